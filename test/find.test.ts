// GET /plants?name=PREFIX: plants by the beginning of their names.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { daemon as daemonRole } from '../src/engine/role'
import { connect } from '../src/engine/sqlite/connection'
import { migrate } from '../src/engine/sqlite/migrations'
import { arrangeNameIndex, NAME_INDEX } from '../src/engine/sqlite/name-index'
import { preparePlants } from '../src/engine/sqlite/plants'
import { runProgram, startDaemon, temporaryFolder } from './harness/daemon'
import { startOwnDaemon } from './harness/own-daemon'
import { expectError } from './harness/plants'

const { daemon } = await startOwnDaemon({ args: ['--name-index'] })

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n
const LONG = 'long '.repeat(400)

// Names that LIKE, cases, collations, UTF-16 and bounds would mix up.
const names = [
  ...['', ' ', '%', '_', '[a', '\u0001', '\\', 'A', 'Aa', 'a', 'a%', 'a%b', 'a_', 'a*', 'aB', 'ab'],
  ...['abc', 'abd', 'á', 'a\u0301', 'ä', 'b', 'z', '\u007f', '\u0080', '\u07ff', '\u0800'],
  ...['\ud7ff', '\ud7ffa', '\ue000', '\ufffd', '\uffff', '\uffffa', '\u{10000}', '\u{1F335}'],
  ...[
    'a\u{10FFFF}',
    'a\u{10FFFF}b',
    'a\u{10FFFF}\u{10FFFF}',
    '\u{10FFFF}',
    '\u{10FFFF}\u{10FFFF}x',
  ],
  ...[
    'a\ud7ff',
    'a\ue000',
    'a\u{1F335}',
    `a${'\u{10FFFF}'.repeat(3)}`,
    'same',
    'same',
    'same',
    'same',
  ],
  ...[LONG, `${LONG}a`, `${LONG}a`, `${LONG}b`, `${'x'.repeat(1023)}\u{1F335}y`],
]
type Named = { readonly id: bigint; readonly name: string }

// Ids in no order of names, at both ends of int64 too.
const plants: Named[] = names.map((name, index) => ({
  id: index === 0 ? MAX : index === 1 ? MIN : BigInt((index * 7919) % 1009) * 9007199254740993n,
  name,
}))
for (const { id, name } of plants) {
  const answer = await daemon.create(`{"id":${id},"name":${JSON.stringify(name)},"tag":"t"}`)
  if (answer.status !== 200) throw new Error(await answer.text())
}

const inOrder = (a: Named, b: Named) =>
  Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) || (a.id < b.id ? -1 : 1)
const expected = (prefix: string) =>
  plants.filter(({ name }) => name.startsWith(prefix)).sort(inOrder)
const idsOf = (text: string) => [...text.matchAll(/"id":(-?\d+)/g)].map(([, id]) => BigInt(id ?? 0))
const pathOf = (prefix: string, more = '') => `/plants?name=${encodeURIComponent(prefix)}${more}`

/** Follows `next` or the link through all pages; resolves to the ids of each. */
async function pages(prefix: string, limit: number, follow: 'next' | 'link'): Promise<bigint[][]> {
  const found: bigint[][] = []
  let url: string | null = pathOf(prefix, `&limit=${limit}`)
  while (url !== null && found.length <= plants.length) {
    const answer: Response = await daemon.fetch(url)
    const text = await answer.text()
    expect({ text: text.slice(0, 80), status: answer.status }).toMatchObject({ status: 200 })
    const { next }: { next: string | null } = JSON.parse(text)
    found.push(idsOf(text))
    const target = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
    expect(target === undefined).toBe(next === null)
    if (follow === 'link') {
      const { pathname, search } = new URL(target ?? '', answer.url)
      url = target === undefined ? null : pathname + search
    } else url = next === null ? null : pathOf(prefix, `&limit=${limit}&after=${next}`)
  }
  return found
}

test.each([
  '',
  'a',
  'A',
  'ab',
  'a%',
  '%',
  '_',
  'a_',
  'á',
  'a\u0301',
  'same',
  'nothing',
  '\u{10FFFF}',
  'a\u{10FFFF}',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{1F335}',
  '\u0001',
  LONG.slice(0, 1000),
  'x',
])(
  'finds the names that begin with %j, code point by code point, in the order of their bytes',
  async (prefix) => {
    for (const limit of [1, 2, 3, 1000]) {
      for (const follow of ['next', 'link'] as const) {
        const found = await pages(prefix, limit, follow)
        expect(found.flat()).toEqual(expected(prefix).map(({ id }) => id))
        for (const page of found.slice(0, -1)) expect(page).toHaveLength(limit)
      }
    }
  },
)

test('answers whole plants, as every list does', async () => {
  const answer = await daemon.fetch(pathOf('abc'))

  const [plant] = expected('abc')
  expect(await answer.text()).toBe(
    `{"plants":[{"id":${plant?.id},"name":"abc","tag":"t"}],"next":null}`,
  )
})

test('goes on behind a plant that was deleted, renamed or added meanwhile', async () => {
  const path = (more = '') => pathOf('page-', `&limit=2${more}`)
  const create = (id: number, name: string) => daemon.fetch('/plants', { json: { id, name } })
  const change = (id: number, method: string, json?: object) =>
    daemon.fetch(`/plants/${id}`, json ? { method, json } : { method })
  const page = async (after?: string | null) => {
    const answer = await daemon.fetch(path(after ? `&after=${after}` : ''))
    const { plants: found, next } = JSON.parse(await answer.text())
    return { names: found.map(({ name }: Named) => name), next }
  }
  for (const [index, letter] of [...'abcdefgh'].entries())
    await create(5000 - index, `page-${letter}`)

  const first = await page()
  expect(first.names).toEqual(['page-a', 'page-b'])
  await change(4999, 'DELETE')
  const second = await page(first.next)
  expect(second.names).toEqual(['page-c', 'page-d'])
  await change(4997, 'PATCH', { name: 'page-z' })
  await create(4000, 'page-d')
  await create(6000, 'page-d')
  await create(4001, 'page-a')
  const third = await page(second.next)
  expect(third.names).toEqual(['page-d', 'page-e'])
  await change(4997, 'PATCH', { name: 'other' })
  expect((await page(third.next)).names).toEqual(['page-f', 'page-g'])
})

test('leaves out no long name whose cursor is cut and whose plant is gone', async () => {
  const long = 'gone '.repeat(400)
  const all = ['a', 'b', 'c'].map((end, index) => ({ id: 7000 + index, name: long + end }))
  for (const json of all) await daemon.fetch('/plants', { json })
  const list = async (more: string) => {
    const text = await (await daemon.fetch(pathOf('gone ', `&limit=2${more}`))).text()
    return { ids: idsOf(text), next: JSON.parse(text).next as string }
  }

  const first = await list('')
  expect(first.ids).toEqual([7000n, 7001n])
  expect(first.next.length).toBeLessThan(5000)
  expect((await list(`&after=${first.next}`)).ids).toEqual([7002n])
  await daemon.fetch('/plants/7001', { method: 'DELETE' })
  expect((await list(`&after=${first.next}`)).ids).toEqual([7000n, 7002n])
})

test.each(['name=%FF', 'name=%ED%A0%80', 'name=a%F0%9F', 'tag=%C3', 'limit=1&name=%80%'])(
  'refuses the query %s, which is not UTF-8, rather than look for other names',
  async (query) => {
    const message = await expectError(await daemon.fetch(`/plants?${query}`), 40002)
    expect(message).toBe('the query is not UTF-8')
  },
)

test('takes a percent sign that encodes nothing as it is, and U+FFFD where it is meant', async () => {
  const found = async (query: string) =>
    idsOf(await (await daemon.fetch(`/plants?${query}`)).text())

  expect(await found('name=a%')).toEqual(expected('a%').map(({ id }) => id))
  expect(await found('name=%EF%BF%BD')).toEqual(expected('\ufffd').map(({ id }) => id))
})

test('leaves out no long name behind one that was given another end', async () => {
  const long = 'renamed '.repeat(200)
  for (const [index, end] of ['a', 'b', 'c'].entries()) {
    await daemon.fetch('/plants', { json: { id: 7100 + index, name: long + end } })
  }
  const list = async (more: string) => {
    const text = await (await daemon.fetch(pathOf('renamed ', `&limit=1${more}`))).text()
    return { ids: idsOf(text), next: JSON.parse(text).next as string }
  }

  const first = await list('')
  expect(first.ids).toEqual([7100n])
  await daemon.fetch('/plants/7100', { method: 'PATCH', json: { name: `${long}z` } })
  expect((await list(`&after=${first.next}`)).ids).toEqual([7101n])
})

test('finds what was answered before', async () => {
  for (let round = 0; round < 50; round++) {
    const id = 8000 + round
    await daemon.fetch('/plants', { json: { id, name: `fresh ${round} a` } })
    const found = async () => idsOf(await (await daemon.fetch(pathOf(`fresh ${round} `))).text())
    expect(await found()).toEqual([BigInt(id)])
    await daemon.fetch(`/plants/${id}`, { method: 'PATCH', json: { name: 'stale' } })
    expect(await found()).toEqual([])
  }
})

test.each([
  ['name=a&tag=t', 'name: cannot be combined with tag'],
  ['name=%00', 'name: expected a string'],
  [`name=${'a'.repeat(1001)}`, 'name: expected a string'],
  ['name=a&after=5', 'after: expected the "next" of a list with the same name'],
  ['name=b&after=5.YWI', 'after: expected the "next" of a list with the same name'],
  ['name=a&after=5._w', 'after: expected'],
  // "a\0": no name has U+0000, and PostgreSQL takes no text with it.
  ['name=a&after=5.YQA', 'after: expected'],
  ['name=a&after=9223372036854775808.YQ', 'after: expected'],
  ['after=5.YWI', 'after: expected the id of a plant'],
  ['after=5.YWI&tag=t', 'after: expected the id of a plant'],
  ['name=a&name=b', 'given more than once: name'],
])('refuses %s', async (query, message) => {
  expect(await expectError(await daemon.fetch(`/plants?${query}`), 40002)).toStartWith(message)
})

const hasIndex = (database: string): boolean => {
  const db = new Database(database, { readonly: true })
  const found = db.query('SELECT 1 FROM sqlite_schema WHERE name = ?').get(NAME_INDEX) !== null
  db.close(true)
  return found
}

test('makes the index when it is asked for, drops it when it is not, and says so', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const events = ({ events: all }: { events: () => { event: string }[] }) =>
    all().flatMap(({ event }) => (event.startsWith('name-index') ? [event] : []))
  async function start(...args: string[]) {
    const started = await startDaemon({ database, args })
    const found = await started.fetch('/plants?name=Ro')
    const text = await found.text()
    const seen = { events: events(started), index: hasIndex(database), text }
    await started.stop()
    return seen
  }
  {
    await using first = await startDaemon({ database })
    await first.create('{"id":1,"name":"Rose"}')
    const message = await expectError(await first.fetch('/plants?name=Ro'), 40002)
    expect(message).toBe(
      'name: plants cannot be found by name here; the daemon must be started with --name-index',
    )
    expect(events(first)).toEqual([])
    expect(hasIndex(database)).toBeFalse()
  }
  const page = '{"plants":[{"id":1,"name":"Rose"}],"next":null}'

  const made = { events: ['name-index-making', 'name-index-made'], index: true, text: page }
  expect(await start('--name-index')).toEqual(made)
  expect(await start('--name-index')).toEqual({ events: [], index: true, text: page })
  // A command leaves it, and keeps it up to date.
  const { code } = await runProgram(['import', '-', '--format', 'ndjson', '--database', database], {
    stdin: '{"id":2,"name":"Rowan"}\n',
  })
  expect({ code, index: hasIndex(database) }).toEqual({ code: 0, index: true })
  expect((await start('--name-index')).text).toContain('Rowan')
  const dropped = await start()
  expect(dropped).toMatchObject({ events: ['name-index-dropped'], index: false })
  expect(dropped.text).toContain('40002')
  expect(await start()).toMatchObject({ events: [], index: false })
})

/** A database of so many plants, each tenth of them called the same, with the index. */
function fill(path: string, count: number) {
  new Database(path).close()
  const db = connect(path)
  migrate(db)
  db.run('PRAGMA synchronous = OFF')
  db.run(
    `WITH RECURSIVE n (v) AS (SELECT 0 UNION ALL SELECT v + 1 FROM n WHERE v < ? - 1)
     INSERT INTO plants SELECT v * 7919 % 1000003, CASE WHEN v % 10 = 0 THEN 'same' ELSE printf('plant %07d', v * 7907 % 1000003) END, NULL FROM n`,
    [count],
  )
  arrangeNameIndex(
    db,
    daemonRole(
      () => {},
      () => {},
      'make',
    ),
  )
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close(true)
}

// What this process has read by system calls: SQLite reads a page by one, as nothing is mapped.
const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])

/** How many pages of the database each page of plants reads, with a cold cache. */
function pagesRead(path: string): number[] {
  const queries = [
    { prefix: 'plant', after: null },
    { prefix: '', after: { name: 'same', id: 500_000n } },
    { prefix: 'same', after: { name: 'same', id: 500_000n } },
    { prefix: 'plant 05', after: { name: 'plant 0550000', id: 3n } },
    { prefix: '', after: { name: 'plant 0500000', id: MAX } },
    { prefix: 'zzz', after: null },
  ]
  return queries.map((query) => {
    const db = connect(path)
    const plants = preparePlants(db)
    // Prepares the statements and reads the schema.
    plants.find({ prefix: '\u{10FFFF}', after: { name: '\u{10FFFF}', id: 0n }, limit: 1 })
    plants.find({ prefix: '\u{10FFFF}', after: null, limit: 1 })
    const overhead = bytesRead()
    const before = bytesRead()
    plants.find({ ...query, limit: 10 })
    const read = bytesRead() - before - (before - overhead)
    db.close(true)
    return Math.round(read / 4096)
  })
}

test('reads as few pages of a large store as of a small one, wherever the cursor is', () => {
  using folder = temporaryFolder()
  fill(folder.file('small.db'), 1000)
  fill(folder.file('large.db'), 300_000)

  const small = pagesRead(folder.file('small.db'))
  const large = pagesRead(folder.file('large.db'))

  expect(Math.max(...small)).toBeGreaterThan(3)
  // Eleven plants, each on a page of the table; the trees are one level deeper.
  for (const read of large) expect(read).toBeLessThan(11 + 2 * 4 + 8)
})

test('searches the index by every part of the order, and sorts nothing', () => {
  using folder = temporaryFolder()
  fill(folder.file('plants.db'), 100)
  const db = connect(folder.file('plants.db'))
  const asked: string[] = []
  const query = db.query.bind(db)
  const watched = new Proxy(db, {
    get: (target, name) =>
      name === 'query'
        ? (sql: string) => {
            if (sql.includes(NAME_INDEX)) asked.push(sql)
            return query(sql)
          }
        : Reflect.get(target, name),
  })
  const plants = preparePlants(watched)
  plants.find({ prefix: 'a', after: null, limit: 1 })
  plants.find({ prefix: 'a', after: { name: 'a', id: 1n }, limit: 1 })
  const plans = asked.map((sql) =>
    db
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail),
  )
  db.close(true)

  const search = `SEARCH plants USING INDEX ${NAME_INDEX}`
  expect(plans).toEqual([
    [`${search} (name>? AND name<?)`],
    [`${search} (name=? AND rowid>?)`],
    [`${search} (name>? AND name<?)`],
  ])
})
