// The daemon itself is killed, stopped and started before a PostgreSQL server.
import type { Daemon } from './daemon.ts'
import { comesTrue, count, type Fault, type Outcome, tally } from './fault.ts'
import { acknowledged, type Ledger, recovers, settle, startLoad } from './load.ts'
import { CLIENTS } from './postgres-load.ts'
import {
  DATABASE,
  launchBefore,
  type Server,
  serveBefore,
  startServer,
  urlOf,
  verifyServer,
} from './postgres-server.ts'
import { faultsOf } from './verify.ts'

const TIMES = 5
const STARTS = 4
// Half of the deadline that a daemon has by default.
const SOON_MS = 4000

async function startEmpty(): Promise<{ server: Server; url: string }> {
  const server = await startServer()
  await server.createDatabase(DATABASE)
  return { server, url: urlOf([server]) }
}

/** No session is left of a daemon that was killed: what it has sent is made by now, or never. */
async function untilAlone(server: Server): Promise<boolean> {
  return comesTrue(5000, async () => {
    const rows = await server.query(
      "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'plantstore@%'",
    )
    return rows.length === 0
  })
}

async function killDaemon(about: string): Promise<Outcome> {
  const { server, url } = await startEmpty()
  const ledger: Ledger = new Map()
  const problems: string[] = []
  let unknown = 0
  for (let i = 0; i < TIMES; i++) {
    const daemon = await serveBefore(url)
    await settle(daemon, ledger)
    const load = startLoad(daemon, { ledger, clients: CLIENTS })
    await acknowledged(ledger, 500, 10_000)
    await Bun.sleep(Math.random() * 100)
    await daemon.kill()
    await load.stop()
    if (!(await untilAlone(server))) problems.push('backends outlive the daemon')
    unknown += tally(ledger).unknown
    problems.push(...faultsOf(await verifyServer(server, ledger)))
  }
  const daemon = await serveBefore(url)
  await settle(daemon, ledger)
  const { stored, refused, unknown: unsettled } = tally(ledger)
  if (refused > 0) problems.push(`${count(refused, 'plant')} refused`)
  if (unsettled > 0) problems.push(`${count(unsettled, 'plant')} unknown after a retry`)
  if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
  const verdict = await verifyServer(server, ledger)
  problems.push(...faultsOf(verdict))
  return {
    tried: about,
    many: `${TIMES} kills, ${count(stored, 'plant')} acknowledged, ${unknown} sent again`,
    lost: `${verdict.lost} lost`,
    problems,
  }
}

/** Stops a daemon under load; returns its exit code, and how long it took. */
async function stopUnderLoad(
  url: string,
  { ledger, from, stopSeconds }: { ledger: Ledger; from: number; stopSeconds: number },
  hurt: (daemon: Daemon) => unknown,
) {
  const daemon = await serveBefore(url, {
    env: { PLANTSTORE_STOP_SECONDS: String(stopSeconds) },
  })
  const load = startLoad(daemon, { ledger, clients: CLIENTS, from })
  await acknowledged(ledger, 300, 10_000)
  await hurt(daemon)
  const start = performance.now()
  const code = await daemon.stop()
  const took = performance.now() - start
  await load.stop()
  return { code, took, log: daemon.err() }
}

const DEFAULT_SECONDS = 8

async function stopDaemon(about: string): Promise<Outcome> {
  const { server, url } = await startEmpty()
  const ledger: Ledger = new Map()
  const problems: string[] = []
  let slowest = 0
  for (let i = 0; i < TIMES; i++) {
    const options = { ledger, from: 1 + i * 1e6, stopSeconds: DEFAULT_SECONDS }
    const { code, took } = await stopUnderLoad(url, options, () => Bun.sleep(Math.random() * 200))
    slowest = Math.max(slowest, took)
    if (code !== 0) problems.push(`exit code ${code}`)
  }
  const { stored, refused, unknown } = tally(ledger)
  if (unknown > 0) problems.push(`${count(unknown, 'request')} without an answer`)
  if (refused > 0) problems.push(`${count(refused, 'plant')} refused`)
  if (slowest > SOON_MS) problems.push(`an end after ${Math.round(slowest)} ms`)
  const [lanes] = await server.query('SELECT count(*)::int AS count FROM lanes', DATABASE)
  if (lanes?.count !== 0) problems.push('a lane is left')
  const verdict = await verifyServer(server, ledger)
  problems.push(...faultsOf(verdict))
  return {
    tried: about,
    many: `${TIMES} times, ${count(ledger.size, 'request')} sent, ${stored} acknowledged`,
    lost: `${unknown} unanswered, ${verdict.lost} lost (slowest end ${Math.round(slowest)} ms)`,
    problems,
  }
}

/** SIGTERM while the server stands still, or is gone: it ends in time, and says what is in doubt. */
async function stopWithout(about: string): Promise<Outcome> {
  const { server, url } = await startEmpty()
  const ledger: Ledger = new Map()
  const problems: string[] = []
  const ends: string[] = []
  const stopSeconds = 2
  const hurts = {
    frozen: async () => server.freeze(),
    gone: async () => {
      await server.killAll()
      return () => server.start()
    },
  }
  for (const [place, [name, hurt]] of Object.entries(hurts).entries()) {
    let heal: () => unknown = () => {}
    const options = { ledger, from: 1 + place * 1e6, stopSeconds }
    const { code, took, log } = await stopUnderLoad(url, options, async () => {
      heal = await hurt()
      await Bun.sleep(300)
    })
    ends.push(`${name}: ${code} after ${Math.round(took)} ms`)
    if (code !== 74) problems.push(`${name}: exit code ${code}`)
    if (took > 2 * stopSeconds * 1000) problems.push(`${name}: an end after ${Math.round(took)} ms`)
    if (!log.includes('may or may not be stored')) problems.push(`${name}: the log tells no doubt`)
    await heal()
  }
  if (!(await untilAlone(server))) problems.push('backends outlive the daemon')
  const daemon = await serveBefore(url)
  await settle(daemon, ledger)
  if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
  const verdict = await verifyServer(server, ledger)
  problems.push(...faultsOf(verdict))
  return { tried: about, many: ends.join(', '), lost: `${verdict.lost} lost`, problems }
}

/** The server dies at some moment of the start: one line, or a daemon that works once the server is back. */
async function startWithout(about: string): Promise<Outcome> {
  const { server } = await startEmpty()
  const problems: string[] = []
  const count = { refused: 0, served: 0 }
  const expectLine = (code: number, line: string) => {
    if (code !== 1 || !/^plantstore: cannot connect to PostgreSQL at [^\n]+\n$/.test(line)) {
      problems.push(`it ends with ${code}: ${JSON.stringify(line)}`)
    }
  }
  const url = urlOf([server]).replace(DATABASE, 'started')
  for (let i = 0; i < STARTS; i++) {
    await server.query('DROP DATABASE IF EXISTS started WITH (FORCE)')
    await server.query('CREATE DATABASE started')
    const run = launchBefore(url)
    await Bun.sleep(40 + i * 30)
    await server.killAll()
    let hasEnded = false
    void run.exited.then(() => {
      hasEnded = true
    })
    await comesTrue(5000, () => hasEnded || run.err().includes('"listening"'))
    await server.start()
    if (hasEnded) {
      count.refused++
      await run.finished
      expectLine(await run.exited, run.err())
    } else count.served++
    await run.kill()
    const daemon = await serveBefore(url)
    if (!(await recovers(daemon, new Map(), 5000))) problems.push('no creates after it')
    await daemon.stop()
  }
  const resume = server.freeze()
  const run = launchBefore(`${url}?connect_timeout=1`)
  const code = await run.finished
  resume()
  expectLine(code, run.err())
  return {
    tried: about,
    many: `${STARTS} kills: ${count.refused} times one line, ${count.served} times it served later`,
    lost: 'every later start works',
    problems,
  }
}

const scenes = {
  'postgres-daemon-kill': ['kill -9 of the daemon under load, again and again', killDaemon],
  'postgres-sigterm': ['SIGTERM under load: every request is answered', stopDaemon],
  'postgres-sigterm-away': [
    'SIGTERM while PostgreSQL stands still or is gone: it ends in time with 74',
    stopWithout,
  ],
  'postgres-start': ['PostgreSQL is killed while the daemon starts, or stands still', startWithout],
} as const

export const postgresDaemonFaults: Fault[] = Object.entries(scenes).map(([name, [about, run]]) => ({
  name,
  about,
  run: () => run(about),
}))
