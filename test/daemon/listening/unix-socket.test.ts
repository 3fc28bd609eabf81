// The daemon on a unix socket: --unix and --unix-mode.

import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { refusalOf, storeFolder } from '../../harness/commands'
import { PATIENCE_MS, runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const modeOf = (file: string): string => (statSync(file).mode & 0o7777).toString(8)

test('the daemon listens on the socket, and its curl line works', async () => {
  using folder = temporaryFolder()
  const unix = folder.file('a socket')
  const args = ['--unix', unix]
  const options = { database: folder.file('plants.db'), args, env: { PLANTSTORE_TOKEN: '' } }
  await using daemon = await startDaemon(options)
  await until('the first token', () => daemon.out().includes('to make another token'))

  expect(daemon.out()).not.toContain('console: ')
  const [event] = daemon.events()
  expect(event).toMatchObject({ event: 'listening', url: 'http://localhost', unix })
  expect(event).not.toHaveProperty('host')
  const [curl = ''] = /^ {2}curl .*$/m.exec(daemon.out()) ?? []
  expect(curl).toContain(` --unix-socket '${unix}' `)
  expect(curl).toEndWith(' http://localhost/plants')
  if (Bun.which('curl')) {
    const { stdout } = Bun.spawnSync(['sh', '-c', `${curl} --silent`])
    expect(stdout.toString()).toBe('{"name":"Monstera deliciosa","tag":"aroid"}')
  }
  expect(await daemon.stop()).toBe(0)
})

test('the printed curl line works in any folder', async () => {
  using folder = temporaryFolder()
  const env = { PLANTSTORE_TOKEN: '' }
  const args = ['--unix', 'plants.sock']
  await using daemon = await startDaemon({ cwd: folder.path, args, env })
  await daemon.prints(() => daemon.out().includes('to make another token'))

  const [curl = ''] = /^ {2}curl .*$/m.exec(daemon.out()) ?? []

  expect(curl).toContain(` --unix-socket ${realpathSync(folder.path)}/plants.sock `)
})

test('health finds the socket, by flag and by environment', async () => {
  using folder = storeFolder()
  const unix = folder.file('plants.sock')
  const health = () => runProgram(['health', '--unix', unix])
  const nobody = {
    out: '',
    err: `plantstore: nothing is listening at ${unix}; is the daemon running?\n`,
    code: 1,
  }
  expect(await health()).toEqual(nobody)
  const options = { database: folder.database, env: { PLANTSTORE_UNIX: unix } }
  const daemon = await startDaemon(options)

  expect(await health()).toEqual({ out: `ok ${unix}\n`, err: '', code: 0 })
  expect((await runProgram(['health'], { env: { PLANTSTORE_UNIX: unix } })).code).toBe(0)

  await daemon.stop('SIGKILL')
  expect(existsSync(unix)).toBeTrue()
  expect(await health()).toEqual(nobody)
})

test.each([
  [[], '660'],
  [['--unix-mode', '0666'], '666'],
  [['--unix-mode', '600'], '600'],
])('the socket has the mode of %j', async (flags, mode) => {
  using folder = storeFolder()
  const unix = folder.file('plants.sock')
  const args = ['--unix', unix, ...flags]
  await using daemon = await folder.serve({ args })

  expect(modeOf(unix)).toBe(mode)
  expect(await daemon.stop()).toBe(0)
})

test('the daemon removes its socket when it stops, and replaces that of a killed daemon', async () => {
  using folder = temporaryFolder()
  const unix = folder.file('plants.sock')
  const options = { database: folder.file('plants.db'), args: ['--unix', unix] }
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGTERM'] as const) {
    const daemon = await startDaemon(options)
    const response = await daemon.fetch('/plants', { unix })
    expect(response.status).toBe(200)
    await daemon.stop(signal)
    expect(existsSync(unix)).toBe(signal === 'SIGKILL')
  }
})

test.each([
  ['the socket of a newer daemon', true],
  ['a file', false],
])('a stopping daemon does not remove %s in place of its socket', async (_, isSocket) => {
  using folder = temporaryFolder()
  const unix = folder.file('plants.sock')
  const args = ['--unix', unix]
  await using older = await startDaemon({ database: folder.file('older.db'), args })
  rmSync(unix)
  await using newer = isSocket
    ? await startDaemon({ database: folder.file('newer.db'), args })
    : null
  if (!newer) writeFileSync(unix, 'precious')

  expect(await older.stop()).toBe(0)

  if (newer) expect((await newer.fetch('/plants', { unix })).status).toBe(200)
  else expect(readFileSync(unix, 'utf8')).toBe('precious')
  expect(readdirSync(folder.path).filter((name) => name.startsWith('.'))).toEqual([])
})

test('a socket on which another program listens is refused and kept', async () => {
  using folder = temporaryFolder()
  const unix = folder.file('plants.sock')
  const first = { database: folder.file('first.db'), args: ['--unix', unix] }
  await using daemon = await startDaemon(first)

  const second = ['serve', '--database', folder.file('second.db'), '--unix', unix]
  expect(refusalOf(await runProgram(second))).toBe(`another program listens on ${unix}`)
  expect((await daemon.fetch('/plants', { unix })).status).toBe(200)
  expect(await daemon.stop()).toBe(0)
  expect(existsSync(unix)).toBeFalse()
})

test('exactly one of several daemons that start at once replaces a socket', async () => {
  using folder = temporaryFolder()
  const unix = folder.file('plants.sock')
  const killed = await startDaemon({ database: folder.file('0.db'), args: ['--unix', unix] })
  await killed.stop('SIGKILL')

  const starts = [1, 2, 3, 4].map((number) => {
    const database = folder.file(`${number}.db`)
    return startDaemon({ database, args: ['--unix', unix] })
  })
  const started = await Promise.allSettled(starts)

  const daemons = started.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  expect(daemons).toHaveLength(1)
  for (const daemon of daemons) expect(await daemon.stop()).toBe(0)
})

test.each([
  ['a file', 'plants.txt', 'exists, and is not a socket'],
  ['too long a path', 'x'.repeat(108), 'the name is too long'],
  ['a folder that does not exist', 'nowhere/plants.sock', 'no such file'],
])('the refusal of %s is one line', async (_, name, message) => {
  using folder = storeFolder()
  writeFileSync(folder.file('plants.txt'), '')

  const result = await folder.run(['serve', '--unix', folder.file(name)])
  expect(refusalOf(result)).toContain(message)
  expect(existsSync(folder.database)).toBeFalse()
})

test.each([
  [['--unix-mode', '0888'], '--unix-mode must be three octal digits'],
  [['--unix', ''], '--unix must not be empty'],
])('the flags %j are refused', async (flags, message) => {
  expect(refusalOf(await runProgram(['serve', ...flags]), 2)).toBe(
    `${message}; see "plantstore serve --help"`,
  )
})
