// A read-only daemon on a file: a backup, or one that another daemon writes.
import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { runProgram, startDaemon } from '../harness/daemon'
import { readEvents, take } from '../harness/events'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'
import { until } from '../harness/until'

const { daemon, folder, createToken } = ownDaemon({ args: ['--keep-changes', '1d'] })
const PRIMARY = 'https://plants.example.org'

const serve = (database: string, ...args: string[]) =>
  startDaemon({ database, args: ['--read-only', ...args] })

const create = async (id: number, name: string) => {
  const response = await daemon.fetch('/plants', { json: { id, name } })
  expect(response.status).toBe(200)
  return response.headers.get('plantstore-cursor') ?? ''
}

const back = async (to: string) => {
  const { code } = await runProgram(['backup', to, '--database', folder.file('plants.db')])
  expect(code).toBe(0)
}

test('a read-only daemon sees each change, checks tokens, and waits for a change that is not there yet', async () => {
  await using reading = await serve(folder.file('plants.db'))
  const authorization = `Bearer ${await createToken('phone', '--scope', 'read')}`
  const cursor = await create(1, 'one')
  const headers = { authorization, 'plantstore-cursor': cursor }
  const later = { 'plantstore-cursor': cursor.replace(/\d+$/, '99') }

  expect<unknown>(await (await reading.fetch('/plants/1', { headers })).json()).toEqual({
    id: 1,
    name: 'one',
  })
  expect<unknown>(await (await reading.fetch('/tags')).json()).toMatchObject({ tags: [] })
  await expectError(await reading.fetch('/plants/1', { headers: later }), 50301)
  for (const path of ['/status', '/token', '/metrics'])
    expect([path, (await reading.fetch(path, { headers: later })).status]).toEqual([path, 200])
  await expectError(
    await reading.fetch('/plants', { headers: { ...later, authorization: 'Bearer x' } }),
    40102,
  )
})

test('a read-only daemon streams the changes of another one', async () => {
  await using reading = await serve(folder.file('plants.db'))
  const response = await reading.fetch('/plants/changes?after=now', {
    headers: { accept: 'text/event-stream' },
  })
  const events = readEvents(response)
  await create(2, 'two')

  const [event] = await take(events, 1)
  expect(event).toMatchObject({ event: 'create' })
})

test('a read-only daemon refuses every change, and names the primary', async () => {
  await using reading = await serve(folder.file('plants.db'), '--primary-url', PRIMARY)
  await create(40, 'forty')
  const plants = [{ id: 3, name: 'three' }]
  for (const [method, path, json] of [
    ['POST', '/plants', plants[0]],
    ['POST', '/plants/batch', { plants }],
    ['PUT', '/plants/batch', { plants }],
    ['PATCH', '/plants/batch', { plants }],
    ['POST', '/plants/batch-delete', { plants }],
    ['PUT', '/plants/40', { name: 'x' }],
    ['PATCH', '/plants/40', { name: 'x' }],
    ['DELETE', '/plants/40', undefined],
  ] as const) {
    const message = await expectError(await reading.fetch(path, { method, json }), 40302)
    expect(message).toBe(`this plantstore is read-only; send changes to ${PRIMARY}`)
  }
  expect((await daemon.fetch('/plants/3')).status).toBe(404)
  expect((await daemon.fetch('/plants/40')).status).toBe(200)
  expect<unknown>(await (await reading.fetch('/status')).json()).toMatchObject({
    readOnly: true,
    writable: false,
    problem: null,
    replica: { lagSeconds: null, lagBytes: null, primary: PRIMARY },
  })
  expect(await reading.event('listening')).toMatchObject({ readOnly: true })
  // So that no alert of a replica or a backup fires.
  const metrics = await (await reading.fetch('/metrics')).text()
  expect(metrics).toContain('plantstore_storage_writable 1\n')
  expect(metrics).not.toMatch(/^plantstore_(replica_lag|wal)_/m)
  expect(await daemon.event('listening')).toMatchObject({ readOnly: false })
})

test('a read-only daemon returns the scope that a token has, for the primary', async () => {
  await using reading = await serve(folder.file('plants.db'))
  const reader = `Bearer ${await createToken('watch', '--scope', 'read')}`
  const scope = async (authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization }
    return (await (await reading.fetch('/token', { headers })).json()) as { scope: string }
  }

  expect(await scope()).toMatchObject({ scope: 'write' })
  expect(await scope(reader)).toMatchObject({ scope: 'read' })
})
test('a read-only daemon on a backup leaves the file and its folder as they are', async () => {
  await create(50, 'fifty')
  mkdirSync(folder.file('kept'))
  const path = folder.file('kept/copy.db')
  await back(path)
  const bytes = readFileSync(path)
  chmodSync(path, 0o444)
  chmodSync(folder.file('kept'), 0o555)
  {
    await using reading = await serve(path)
    expect((await reading.fetch('/plants/50')).status).toBe(200)
    expect((await reading.fetch('/health')).status).toBe(200)
    expect((await reading.create(9, 'x')).status).toBe(403)
  }

  expect(readdirSync(folder.file('kept'))).toEqual(['copy.db'])
  expect(readFileSync(path).equals(bytes)).toBeTrue()
  chmodSync(folder.file('kept'), 0o755)
})

test('a read-only daemon on a backup reads the file that replaces it, and fails while there is none', async () => {
  const path = folder.file('copy.db')
  await back(path)
  await using reading = await serve(path)
  await create(20, 'twenty')
  expect((await reading.fetch('/plants/20')).status).toBe(404)

  await back(folder.file('newer.db'))
  renameSync(folder.file('newer.db'), path)
  expect((await reading.fetch('/plants/20')).status).toBe(200)
  rmSync(path)
  await expectError(await reading.fetch('/plants/20'), 50302)
  expect((await reading.fetch('/health')).status).toBe(503)
  await back(path)
  expect((await reading.fetch('/plants/20')).status).toBe(200)
  expect((await reading.fetch('/health')).status).toBe(200)
  const events = () => reading.events().map(({ event }) => event)
  await until('the recovery', () => events().includes('storage-recovered'))
  expect(events().filter((event) => /^(cannot|storage)-/.test(event))).toEqual([
    'cannot-read',
    'storage-recovered',
  ])
})

const EXCLUSIVE = '--primary-url needs --read-only, which allows no --keep-changes'

test.each([
  [['--read-only', '--keep-changes', '1d'], EXCLUSIVE],
  [['--primary-url', PRIMARY], EXCLUSIVE],
  [['--read-only', '--database', 'none.db'], 'no database at'],
])('a start with --read-only %j is refused: %s', async (args, reason) => {
  const { code, err } = await runProgram(['serve', '--port', '0', ...args], { cwd: folder.path })

  expect(code).toBeGreaterThan(0)
  expect(err).toContain(reason)
  expect(readdirSync(folder.path)).not.toContain('none.db')
})
