import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import type { ChangePage } from '../../../src/client/types'
import { hasScript, lines, onTerminal, storeFolder } from '../../harness/commands'
import { PATIENCE_MS, program, runProgram } from '../../harness/daemon'
import { keptNote } from '../../harness/fields'
import { storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

test('import fills a new database from NDJSON, and skips stored plants when run again', async () => {
  using folder = storeFolder()
  const file = folder.file('plants.ndjson')
  await Bun.write(file, '{"id":9223372036854775807,"name":"a","tag":""}\n\n{"id":-1,"name":"b"}')

  const first = await folder.run(['import', file])
  const again = await folder.run(['import', file])

  expect(first).toEqual({
    out: 'created 2, skipped 0, replaced 0, refused 0; 2 rows read\n',
    err: `created database ${folder.database}\n`,
    code: 0,
  })
  expect(again).toEqual({
    out: 'created 0, skipped 2, replaced 0, refused 0; 2 rows read\n',
    err: '',
    code: 0,
  })
  expect(storedPlants(folder.database)).toEqual([
    { id: -1n, name: 'b', tag: null },
    { id: 9223372036854775807n, name: 'a', tag: '' },
  ])
})

test('import shows 20 refused lines, counts the rest, and says where reading stopped', async () => {
  using folder = storeFolder()
  const stdin = `id,name\n1,Fern\n${'x,bad\n'.repeat(25)}1,other\n2,Ivy\n3,"never closed\n4,lost\n`

  const { out, err, code } = await folder.load('csv', stdin)

  expect({ out, code }).toEqual({
    out: 'created 2, skipped 0, replaced 0, refused 26; 28 rows read; not read: from line 30 on: unterminated quote in "name"\n',
    code: 1,
  })
  expect([...(err.match(/^line \d+: /gm) ?? [])]).toEqual(
    Array.from({ length: 20 }, (_, n) => `line ${n + 3}: `),
  )
})

test('--refused saves every refused row, even while later rows are stored', async () => {
  using folder = storeFolder()
  const refused = folder.file('refused')
  const words = ['import', '-', '--format', 'ndjson', '--refused', refused]
  const ids = Array.from({ length: 20_000 }, (_, n) => (n % 2 === 0 ? n : `"x${n}"`))
  const stdin = ids.map((id) => `{"id":${id},"name":"Fern"}\n`).join('')

  const { out } = await folder.run(words, { stdin })

  expect(out).toBe('created 10000, skipped 0, replaced 0, refused 10000; 20000 rows read\n')
  expect(new Set(readFileSync(refused, 'utf8').match(/"x\d+"/g)).size).toBe(10_000)
})

test('--strict ends an import and its dry run at the first refused row', async () => {
  using folder = storeFolder()
  // More than one commit.
  const rows = Array.from({ length: 2500 }, (_, id) => `${id + 2},c\n`).join('')
  const stdin = `id,name\n1,a\n1,b\n${rows}x,d\n`
  const dry = await folder.load('csv', stdin, '--strict', '--dry-run')
  const real = await folder.load('csv', stdin, '--strict')

  const rest = ' 1; 2 rows read; not read: what follows the first refused row (--strict)\n'
  expect(dry.out).toEndWith(`dry run; would create 1, skip 0, replace 0, refuse${rest}`)
  expect(real.out).toBe(`created 1, skipped 0, replaced 0, refused${rest}`)
  expect([dry.code, real.code]).toEqual([1, 1])
  expect(real.err).toContain('\nline 3: ')
  expect(storedPlants(folder.database)).toEqual([{ id: 1n, name: 'a', tag: null }])
})

test('import says how a refused plant differs from the stored one, and names --replace', async () => {
  using folder = storeFolder()
  await folder.load('ndjson', '{"id":1,"name":"a"}\n{"id":2,"name":"b","tag":"x"}')

  const stdin = ['{"id":1,"name":"a","tag":"y"}', '{"id":2,"name":"c","tag":"y"}'].join('\n')
  const refused = await folder.load('ndjson', stdin)
  const dry = await folder.load('ndjson', stdin, '--dry-run')

  expect(refused).toEqual({
    out: 'created 0, skipped 0, replaced 0, refused 2; 2 rows read\n',
    err: [
      'line 1: plant 1 is stored with no tag; use --replace to update it\n',
      'line 2: plant 2 is stored with another name and another tag; use --replace to update it\n',
    ].join(''),
    code: 1,
  })
  expect(dry.err).toBe(refused.err)
})

test.each([
  ['csv', 'id,name\n1,a\n2,b\n3,c\n', ['x', 'y', null], true],
  ['csv', 'id,name,tag\n1,a,\n2,b,z\n3,c,\n', [null, 'z', null], false],
  ['json', '[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]', ['x', 'y', null], true],
  [
    'json',
    '[{"id":1,"name":"a","tag":null},{"id":2,"name":"b"},{"id":3,"name":"c"}]',
    [null, null, null],
    false,
  ],
  // Too late for the columns to be found in them.
  [
    'ndjson',
    `${'{"id":3,"name":"c"}\n'.repeat(9000)}{"id":1,"name":"a","tag":null}\n{"id":2,"name":"b","tag":"z"}\n`,
    [null, 'z', null],
    true,
  ],
])(
  '--replace of %s keeps the tag if there is no column for it: %#',
  async (format, stdin, tags, kept) => {
    using folder = storeFolder()
    await folder.load('csv', 'id,name,tag\n1,old,x\n2,old,y\n')

    const { out, code } = await folder.load(format, stdin, '--replace')

    expect(code).toBe(0)
    const note = kept ? keptNote() : keptNote('tag')
    expect(out).toEndWith(` read${note}\n`)
    expect(storedPlants(folder.database).map(({ name, tag }) => [name, tag])).toEqual([
      ['a', tags[0] ?? null],
      ['b', tags[1] ?? null],
      ['c', tags[2] ?? null],
    ])
  },
)

test('the change log has only what --replace has changed, a commit for each group', async () => {
  using folder = storeFolder()
  await using daemon = await folder.serve({ args: ['--keep-changes', '1d'] })
  const rows = (name: (id: number) => string) =>
    Array.from({ length: 2000 }, (_, id) => `{"id":${id},"name":"${name(id)}"}\n`).join('')
  await folder.load(
    'ndjson',
    rows((id) => `n${id}`),
    '--replace',
  )
  const changesAfter = async (cursor: string) =>
    (await (await daemon.fetch(`/plants/changes?after=${cursor}`)).json()) as ChangePage
  const { next } = await changesAfter('now')

  const changed = [3, 700, 1001, 1999]
  const stdin = rows((id) => (changed.includes(id) ? 'other' : `n${id}`))
  const { out } = await folder.load('ndjson', `${stdin}{"id":2000,"name":"new"}\n`, '--replace')

  expect(out).toBe(`created 1, skipped 1996, replaced 4, refused 0; 2001 rows read${keptNote()}\n`)
  const { changes } = await changesAfter(next)
  const brief = changes.map(({ action, id, request }) => [action, Number(id), request])
  expect(brief).toEqual([
    ...changed.map((id) => ['patch', id, 'import']),
    ['create', 2000, 'import'],
  ])
})

test('--replace follows the order of the lines, even if they share an id', async () => {
  using folder = storeFolder()
  const stdin = ['a', 'b', 'a'].map((name) => `{"id":1,"name":"${name}"}\n`).join('')
  const { code } = await folder.load('ndjson', stdin, '--replace')

  expect(code).toBe(0)
  expect(storedPlants(folder.database)).toEqual([{ id: 1n, name: 'a', tag: null }])
})

test('--replace continues if a client deletes a plant meanwhile', async () => {
  using folder = storeFolder()
  await using daemon = await folder.serve()
  let isOver = false
  const deleteAndCreate = async (id: number) => {
    while (!isOver) {
      await daemon.create(id, 'of a client')
      await daemon.fetch(`/plants/${id}`, { method: 'DELETE' })
    }
  }
  const clients = Array.from({ length: 8 }, (_, id) => deleteAndCreate(id))
  const rounds = Array.from({ length: 50 }, (_, round) =>
    lines(0, 8).replaceAll('plant', `plant of ${round},`),
  )

  const { out, err, code } = await folder.load('ndjson', rounds.join(''), '--replace')
  isOver = true
  await Promise.all(clients)

  expect({ err, code }).toEqual({ err: '', code: 0 })
  const counts = [...out.matchAll(/\d+/g)].map(Number)
  expect(counts.slice(0, 4).reduce((sum, count) => sum + count)).toBe(400)
  expect(counts[4]).toBe(400)
})

test('import refuses what cannot be opened, and creates no database', async () => {
  using folder = storeFolder()

  for (const [path, word, expected] of [
    [folder.file('none.csv'), 'no such file', 1],
    [folder.path, 'is a folder; name a file', 2],
    [folder.file('none'), 'no such file', 1],
  ] as const) {
    const { err, code } = await folder.run(['import', path])
    expect({ code, lines: err.split('\n').length }).toEqual({ code: expected, lines: 2 })
    expect(err).toContain(word)
  }
  expect(existsSync(folder.database)).toBeFalse()
  symlinkSync(folder.database, folder.database)
  expect((await folder.load('csv', '', '--dry-run')).err).toContain('too many links')
})

test.each([
  ['plants', '{"id":1,"name":"Fern"}\n'],
  ['plants.data', '[{"id":1,"name":"Fern"}]'],
  ['plants.ndjson', '[\n{"id":1,"name":"Fern"}]\n'],
  ['plants.psv', 'id|name\n1|Fern\n'],
  ['-', 'id;name\n1;Fern\n'],
])('the content determines the format of %s', async (name, text) => {
  using folder = storeFolder()
  if (name !== '-') await Bun.write(folder.file(name), text)
  await runProgram(['import', name], { cwd: folder.path, stdin: text })

  expect(storedPlants(folder.database)).toEqual([{ id: 1n, name: 'Fern', tag: null }])
})

/** An import of standard input that has stored its first 1000 plants, and waits for more. */
async function importing(folder: ReturnType<typeof storeFolder>, under: readonly string[] = []) {
  const [database, refused] = [folder.database, folder.file('refused')]
  const words = ['import', '-', '--format', 'ndjson', '--database', database, '--refused', refused]
  const child = Bun.spawn([...under, ...program, ...words], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  child.stdin.write(`{"id":-1}\n${lines(0, 1500)}`)
  child.stdin.flush()
  const stored = () => {
    try {
      return storedPlants(database).length
    } catch {
      return 0
    }
  }
  await until('the first 1000 plants', () => stored() >= 999)
  return child
}

test.each([
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)(
  '%s ends an import with a summary and the refused rows, even while its input is silent',
  async (signal, code) => {
    using folder = storeFolder()
    const child = await importing(folder)

    child.kill(signal)

    expect(await child.exited).toBe(code)
    expect(await new Response(child.stdout).text()).toMatch(/^created (999|1[05]00), skipped 0, /)
    expect(await new Response(child.stderr).text()).toEndWith(
      'interrupted; run it again to complete it\n',
    )
    expect(readFileSync(folder.file('refused'), 'utf8')).toContain('{"id":-1,')
    expect(readdirSync(folder.path).filter((name) => name.startsWith('.'))).toEqual([])
  },
)

test('import ignores SIGHUP under nohup', async () => {
  using folder = storeFolder()
  const child = await importing(folder, ['sh', '-c', 'trap "" HUP; exec "$0" "$@"'])

  child.kill('SIGHUP')
  child.stdin.write(lines(1500, 1600))
  await child.stdin.end()

  expect(await child.exited).toBe(1)
  expect(await new Response(child.stdout).text()).toStartWith('created 1600, skipped 0, ')
})

test.skipIf(!hasScript)(
  'import shows progress after a second, on a terminal of unknown size too',
  () => {
    using folder = storeFolder()
    const words = [...program, 'import', '-', '--format', 'csv', '--database', folder.database]
    const isDrawnAfter = (seconds: number) => {
      const script = `(sleep ${seconds}; echo id,name; echo 1,Fern) | "$0" "$@"`
      return onTerminal(['sh', '-c', script, ...words]).stdout.includes('plants/s')
    }
    expect([0, 1.2].map(isDrawnAfter)).toEqual([false, true])
  },
)

test('import and export run while a daemon creates plants', async () => {
  using folder = storeFolder()
  await using daemon = await folder.serve()
  const stdin = Array.from({ length: 20_000 }, (_, id) => `{"id":${id},"name":"imported"}`).join(
    '\n',
  )
  let isOver = false
  let created = 0
  const creating = (async () => {
    for (let id = 1_000_000; !isOver; id++) {
      const response = await daemon.create(id, 'created')
      expect(response.status).toBe(200)
      created++
    }
  })()

  const imported = await folder.load('ndjson', stdin)
  isOver = true
  await creating
  const { out } = await folder.run(['export'])

  expect(imported.out).toBe('created 20000, skipped 0, replaced 0, refused 0; 20000 rows read\n')
  expect(created).toBeGreaterThan(10)
  expect(out.trimEnd().split('\n')).toHaveLength(20_000 + created)
  expect(await daemon.metric('plantstore_plants')).toBe(20_000 + created)
})
