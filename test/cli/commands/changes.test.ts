import { expect, test } from 'bun:test'
import { runProgram, startDaemon, startProgram, TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'

const KEEP = ['--keep-changes', '1d']
const { daemon, database, folder } = ownDaemon({ args: KEEP })
const env = { PLANTSTORE_TOKEN: TOKEN }
const create = (id: number) => daemon.fetch('/plants', { json: { id, name: 'a' } })

const ofFile = () => ['--database', database]
const ofDaemon = () => ['--url', daemon.url]

type Line = { readonly cursor: string; readonly id: number; readonly action: string }
const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test.each([
  ['the file', ofFile],
  ['the daemon', ofDaemon],
])('changes prints exact ids from %s, and continues after a cursor', async (_, from) => {
  await daemon.create(9223372036854775807n, 'a')
  await daemon.fetch('/plants/9223372036854775807', { method: 'DELETE' })

  const all = await runProgram(['changes', ...from()], { env })
  const lines = linesOf(all.out)
  const [before, last] = lines.slice(-2)
  const rest = await runProgram(['changes', ...from(), '--after', before?.cursor ?? ''], { env })
  const none = await runProgram(['changes', ...from(), '--after', 'now'], { env })

  expect([all.code, rest.code, none.code]).toEqual([0, 0, 0])
  expect(all.out).toContain('"id":9223372036854775807,')
  expect(linesOf(rest.out)).toEqual(last ? [last] : [])
  expect([before?.action, last?.action]).toEqual(['create', 'delete'])
  expect(none.out).toBe('')
})

test.each([
  ['the file', ofFile],
  ['the daemon', ofDaemon],
])('changes follows %s until it is interrupted', async (_, from) => {
  const args = ['changes', '--follow', '--after', 'now', ...from()]
  await using child = startProgram(args, { env })
  // It has begun when the first change appears.
  let id = Math.floor(Math.random() * 1e9)
  const first = id
  await until('the first change', async () => {
    await create(id++)
    return child.out().includes('\n')
  })
  await child.prints(() => linesOf(child.out()).at(-1)?.id === id - 1)
  child.signal('SIGINT')

  expect(await child.exited).toBe(130)
  const ids = linesOf(child.out()).map((line) => line.id)
  expect(ids.at(-1)).toBe(id - 1)
  expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index))
  expect(ids[0]).toBeGreaterThanOrEqual(first)
})

test('changes prints more than one page', async () => {
  const plants = Array.from({ length: 1000 }, (_, index) => ({ id: -1 - index, name: 'a' }))
  for (const method of ['POST', 'DELETE'] as const) {
    if (method === 'POST') await daemon.fetch('/plants/batch', { json: { plants } })
    else await Promise.all(plants.map(({ id }) => daemon.fetch(`/plants/${id}`, { method })))
  }
  const { out } = await runProgram(['changes', ...ofFile()])

  expect(linesOf(out).filter(({ id }) => id < 0)).toHaveLength(2000)
})

test('changes ends even if an entry is added for each page that it reads', async () => {
  let id = 2e9
  await using proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const page = await (await daemon.fetch(`${pathname}${search}`)).text()
      await create(id++)
      return new Response(page)
    },
  })
  const { out, code } = await runProgram(['changes', '--url', proxy.url.origin], { env })

  expect(code).toBe(0)
  expect(linesOf(out).length).toBeGreaterThan(0)
})

test('wrong usage of changes is reported in one line', async () => {
  await using plain = await startDaemon({ database: folder.file('plain.db') })
  const run = async (args: readonly string[], environment = env) => {
    const { err, code } = await runProgram(['changes', ...args], { env: environment })
    return { err, code }
  }

  expect(await run(['--database', folder.file('plain.db')])).toEqual({
    err: expect.stringContaining('--keep-changes'),
    code: 1,
  })
  expect(await run(['--url', plain.url])).toEqual({
    err: expect.stringContaining('--keep-changes'),
    code: 1,
  })
  expect(await run(['--url', 'localhost:3000'])).toMatchObject({ code: 2 })
  expect(await run(['--url', 'http://127.0.0.1:1'])).toEqual({
    err: 'plantstore: nothing is listening at http://127.0.0.1:1; is the daemon running?\n',
    code: 1,
  })
  expect(await run(ofDaemon(), { PLANTSTORE_TOKEN: '' })).toEqual({
    err: expect.stringContaining('PLANTSTORE_TOKEN'),
    code: 2,
  })
  expect(await run([...ofFile(), '--after', 'x'])).toMatchObject({ code: 1 })
})
