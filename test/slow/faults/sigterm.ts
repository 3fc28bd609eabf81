import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, request } from '../../harness/http.ts'
import { storedPlants } from '../../harness/plants.ts'
import { inTime } from '../../harness/until.ts'
import { type Daemon, serve } from './daemon.ts'
import { count, type Fault, type Report } from './fault.ts'
import { after, needGo, preload, sh } from './lab.ts'
import { acknowledged, type Ledger, startLoad, tally } from './load.ts'
import { conclude, verify } from './verify.ts'

const times = 10
// Half of the deadline that it has by default.
const SOON_MS = 4000
// Clients that all have a request in flight, or are about to send one.
const GO_CLIENTS = 32

/** Stops a daemon by SIGTERM: with 0, and soon. */
async function stopSoon(daemon: Daemon, report: Report, ms: number): Promise<void> {
  const start = performance.now()
  const code = await daemon.stop()
  const took = Math.round(performance.now() - start)
  report.expect(code === 0, `exit code ${code}`)
  report.expect(took <= ms, `an end after ${took} ms`)
}

/** Every request on a connection that is kept is answered. */
async function stopUnderLoad(folder: string, report: Report): Promise<string> {
  const database = join(folder, 'plants.db')
  const ledger: Ledger = new Map()
  for (let i = 0; i < times; i++) {
    const daemon = await serve(database)
    // Busy clients, and some that think between two requests.
    const busy = startLoad(daemon, { ledger, clients: 16, from: 1 + i * 1e6 })
    await acknowledged(ledger, 1, 5000)
    const from = 1e9 + i * 1e6
    const calm = startLoad(daemon, { ledger, clients: 8, from, pauseMs: 40 })
    // A request that is never whole may hold the end up to a deadline: once is enough.
    using half = i === 0 ? await connect(daemon.port) : null
    half?.write(request('POST', '/plants', daemon.token, '{"id":1').slice(0, -5))
    await Bun.sleep(100 + Math.random() * 300)
    await stopSoon(daemon, report, half ? 2 * SOON_MS : SOON_MS)
    await Promise.all([busy.stop(), calm.stop()])
    report.expect(!existsSync(`${database}-wal`), 'the WAL is left')
  }
  const { refused, unknown } = tally(ledger)
  report.expect(refused + unknown === 0, `${refused} refused, ${unknown} unanswered`)
  return `${times} times, ${conclude(report, ledger, verify(database, ledger))}`
}

/** Go's clients, which do not retry, lose no connection to a restart. */
async function restartUnderGo(folder: string, report: Report): Promise<string> {
  const client = join(folder, 'restarts')
  await sh(...(await needGo()), 'build', '-o', client, join(import.meta.dir, 'restarts.go'))
  const database = join(folder, 'plants.db')
  let daemon = await serve(database)
  const { port } = daemon
  const words = [`http://127.0.0.1:${port}`, daemon.token, String(GO_CLIENTS)]
  const go = Bun.spawn([client, ...words], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
  after(() => go.kill('SIGKILL'))
  for (let i = 0; i < times; i++) {
    await Bun.sleep(300)
    await stopSoon(daemon, report, SOON_MS)
    daemon = await serve(database, { port })
  }
  go.stdin.end()
  const [out, errors] = await Promise.all([
    new Response(go.stdout).text(),
    new Response(go.stderr).text(),
  ])
  const { answered, broken }: { answered: number; broken: number } = JSON.parse(out)
  await daemon.stop()
  // One client that the machine keeps from its turn may lose its connection; never all of them, as each stop did.
  report.expect(broken <= GO_CLIENTS, `resets: ${errors.split('\n', 1)}`)
  report.expect(answered > 0, 'no answers')
  const stored = storedPlants(database).length
  report.expect(stored >= answered, `${stored} plants of ${answered}`)
  return `${times} restarts, ${count(answered, 'create')} | ${broken} resets`
}

/** The disk hangs in an fsync: the daemon ends in time with 74, or at a second signal. */
async function stopOnHungDisk(folder: string, report: Report): Promise<string> {
  const ledger: Ledger = new Map()
  const database = join(folder, 'plants.db')
  const STALL = join(folder, 'stall')
  const env = { LD_PRELOAD: await preload(folder, 'stall'), STALL }
  for (const [stopSeconds, expected, event] of [
    ['2', 74, 'stop-timed-out'],
    ['3600', 143, 'stopped-at-once'],
  ] as const) {
    const daemon = await serve(database, { env: { ...env, PLANTSTORE_STOP_SECONDS: stopSeconds } })
    const load = startLoad(daemon, { ledger, clients: 8 })
    await acknowledged(ledger, 50, 5000)
    writeFileSync(STALL, '')
    await Bun.sleep(200)
    daemon.signal('SIGTERM')
    await daemon.event('stopping')
    // One that follows at once counts as the same.
    await Bun.sleep(100)
    if (event === 'stopped-at-once') daemon.signal('SIGTERM')
    const code = await inTime(() => 'the end on a disk that hangs', daemon.exited, 15_000)
    report.expect(code === expected, `exit code ${code}, not ${expected}`)
    report.expect(daemon.err().includes(event), `no line ${event}`)
    rmSync(STALL)
    await load.stop()
  }
  return conclude(report, ledger, verify(database, ledger))
}

export const sigtermFaults: Fault[] = [
  {
    name: 'sigterm',
    about: 'SIGTERM under load: every request on a connection that is kept is answered',
    run: stopUnderLoad,
  },
  {
    name: 'sigterm-go',
    about: 'restarts under busy Go clients that do not retry: no connection is reset',
    run: restartUnderGo,
  },
  {
    name: 'sigterm-hang',
    about: 'SIGTERM on a disk that hangs: it ends in time with 74, or at a second signal',
    run: stopOnHungDisk,
  },
]
