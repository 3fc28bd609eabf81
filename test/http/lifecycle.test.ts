import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { quote } from '../../src/program'
import { storeFolder } from '../harness/commands'
import {
  type Daemon,
  PATIENCE_MS,
  program,
  startTemporary,
  TOKEN,
  temporaryFolder,
} from '../harness/daemon'
import { connect, head } from '../harness/http'
import { storedPlants } from '../harness/plants'
import { until } from '../harness/until'

setDefaultTimeout(PATIENCE_MS)

const post = (length: number) =>
  head('POST /plants', {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    'content-length': String(length),
  })

/** A client whose request never ends, once the daemon has read its head: it serves a later one then. */
async function hang(daemon: Daemon) {
  const connection = await connect(daemon.url)
  connection.write(`${post(100)}{"id":1`)
  await daemon.fetch('/plants')
  return connection
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a daemon stops on %s, and leaves one database file',
  async (signal) => {
    await using daemon = await startTemporary()
    await daemon.create(1)

    expect(await daemon.stop(signal)).toBe(0)

    expect(readdirSync(daemon.folder.path).sort()).toEqual(['plants.db'])
    expect(storedPlants(daemon.database)).toHaveLength(1)
    expect(daemon.events().map((line) => line.event)).toEqual(['listening', 'stopping', 'stopped'])
    expect(daemon.events()[1]).toMatchObject({ signal })
  },
)

test('a daemon serves a request whose body is still arriving at SIGTERM', async () => {
  const body = '{"id":1,"name":"Rose"}'
  await using daemon = await startTemporary()
  await using connection = await connect(daemon.url)
  connection.write(post(body.length) + body.slice(0, 10))
  // The daemon has read the head once it has answered another request that came later.
  await daemon.fetch('/plants')

  const stopped = daemon.stop()
  await daemon.event('stopping')
  await Bun.sleep(300)
  connection.write(body.slice(10))
  const response = await connection.receive(/\{"name":"Rose"\}$/)

  expect(response).toStartWith('HTTP/1.1 200 OK\r\n')
  expect(response.toLowerCase()).toContain('\r\nconnection: close\r\n')
  expect(await stopped).toBe(0)
  expect(storedPlants(daemon.database)).toHaveLength(1)
})

test('a daemon waits for a client that hangs no longer than --stop-seconds', async () => {
  const args = ['--stop-seconds', '1']
  await using daemon = await startTemporary({ args })
  using _ = await hang(daemon)

  expect(await daemon.stop()).toBe(0)

  expect(storedPlants(daemon.database)).toEqual([])
})

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('a daemon exits at once on a second signal: %s', async (signal, code) => {
  const args = ['--stop-seconds', '3600']
  await using daemon = await startTemporary({ args })
  using _ = await hang(daemon)

  const stopped = daemon.stop()
  await daemon.event('stopping')
  // A signal within some milliseconds counts as a repetition.
  await Bun.sleep(100)
  process.kill(daemon.pid, signal)

  expect(await stopped).toBe(code)
  expect(daemon.events().at(-1)).toMatchObject({ event: 'stopped-at-once', signal })
})

test.each(['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGPIPE'] as const)(
  'a daemon keeps running on %s',
  async (signal) => {
    await using daemon = await startTemporary()

    process.kill(daemon.pid, signal)
    await Bun.sleep(50)

    expect((await daemon.create(1)).status).toBe(200)
    expect(await daemon.stop()).toBe(0)
    expect(daemon.events().map((line) => line.event)).toEqual(['listening', 'stopping', 'stopped'])
  },
)

/** Starts a daemon on a terminal; `log` is its standard error. */
function startOnTerminal(database: string, log: string, before = '') {
  const serve = [...program, 'serve', '--port', '0', '--database', database].map(quote).join(' ')
  const child = Bun.spawn(['sh', '-c', `${before}exec ${serve} 2> ${quote(log)}`], { terminal: {} })
  const events = () => (existsSync(log) ? readFileSync(log, 'utf8') : '')
  return {
    child,
    events,
    listens: () => until('the daemon listens', () => events().includes('"listening"')),
  }
}

test('a daemon stops when the terminal that started it closes', async () => {
  using folder = temporaryFolder()
  const { child, events, listens } = startOnTerminal(folder.file('plants.db'), folder.file('log'))
  await listens()

  process.kill(child.pid, 'SIGHUP')
  await Bun.sleep(1200)
  expect(events()).not.toContain('"stopping"')
  child.terminal?.close()

  expect(await child.exited).toBe(0)
  expect(events()).toMatch(/"stopping","signal":"SIGHUP"}\n.*"stopped"}\n$/)
})

test('a daemon outlives its terminal if nohup has started it', async () => {
  using folder = temporaryFolder()
  const started = startOnTerminal(folder.file('plants.db'), folder.file('log'), "trap '' HUP; ")
  const { child, events, listens } = started
  await listens()

  child.terminal?.close()
  await Bun.sleep(1100)

  expect(events()).not.toContain('"stopping"')
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
})

test('a daemon reads the token file again on SIGHUP, and keeps the old token if it cannot', async () => {
  using folder = storeFolder()
  const file = folder.file('token')
  const [first, second] = ['first_0123456789abcdef', 'second_0123456789abcdef']
  writeFileSync(file, first)
  const env = { PLANTSTORE_TOKEN: '', PLANTSTORE_TOKEN_FILE: file }
  await using daemon = await folder.serve({ env })
  const statusOf = async (token: string) =>
    (await daemon.fetch('/plants', { headers: { authorization: `Bearer ${token}` } })).status
  let reloads = 0
  const reload = async () => {
    process.kill(daemon.pid, 'SIGHUP')
    reloads += 1
    const count = () =>
      daemon.events().filter((line) => line.event.startsWith('token-file-')).length
    await until('an event of the token file', () => count() >= reloads)
  }

  writeFileSync(file, `${second}\n`)
  expect([await statusOf(first), await statusOf(second)]).toEqual([200, 401])
  await reload()
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200])

  writeFileSync(file, 'short')
  await reload()
  rmSync(file)
  await reload()
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200])
  const levels = daemon.events().filter((line) => line.event.startsWith('token-file-'))
  expect(levels.map(({ event, level }) => `${event} ${level}`)).toEqual([
    'token-file-read info',
    'token-file-refused error',
    'token-file-refused error',
  ])
  expect(daemon.err()).not.toContain(second)
})

const asPid1 = ['unshare', '--user', '--map-root-user', '--pid', '--fork']
const canBePid1 = Bun.spawnSync([...asPid1, 'true']).exitCode === 0

test.skipIf(!canBePid1)('a daemon stops on SIGTERM as process 1 of a container', async () => {
  await using daemon = await startTemporary({ under: asPid1 })
  await daemon.create(1)
  const children = readFileSync(`/proc/${daemon.pid}/task/${daemon.pid}/children`, 'utf8')

  process.kill(Number(children.trim()), 'SIGTERM')
  await daemon.event('stopped')

  expect(await daemon.exited).toBe(0)
  expect(storedPlants(daemon.database)).toHaveLength(1)
})

test('a signal sent to the process and its group counts once', async () => {
  await using daemon = await startTemporary()
  process.kill(daemon.pid, 'SIGTERM')

  expect(await daemon.stop()).toBe(0)
})
