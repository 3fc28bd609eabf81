import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, request } from '../../harness/http.ts'
import { inTime } from '../../harness/until.ts'
import { serve } from './daemon.ts'
import type { Fault, Report } from './fault.ts'
import { preload } from './lab.ts'
import { acknowledged, type Ledger, startLoad, tally } from './load.ts'
import { faultsOf, stopWell, verify } from './verify.ts'

const TIMES = 10
// Half of the deadline that it has by default.
const SOON_MS = 4000

/** Every request on a connection that is kept is answered. */
async function stopUnderLoad(folder: string, report: Report): Promise<void> {
  const database = join(folder, 'plants.db')
  const ledger: Ledger = new Map()
  for (let i = 0; i < TIMES; i++) {
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
    const start = performance.now()
    await stopWell(daemon, report)
    const took = Math.round(performance.now() - start)
    report.expect(took <= (half ? 2 : 1) * SOON_MS, `an end after ${took} ms`)
    await Promise.all([busy.stop(), calm.stop()])
    report.expect(!existsSync(`${database}-wal`), 'the WAL is left')
  }
  const { refused, unknown } = tally(ledger)
  report.expect(refused + unknown === 0, `${refused} refused, ${unknown} unanswered`)
  report.note(...faultsOf(verify(database, ledger)))
}

/** The disk hangs in an fsync: the daemon ends in time with 74, or at a second signal. */
async function stopOnHungDisk(folder: string, report: Report): Promise<void> {
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
  report.note(...faultsOf(verify(database, ledger)))
}

export const sigtermFaults: Fault[] = [
  {
    name: 'sigterm',
    about: 'SIGTERM under load: every request on a connection that is kept is answered',
    run: stopUnderLoad,
  },
  {
    name: 'sigterm-hang',
    about: 'SIGTERM on a disk that hangs: it ends in time with 74, or at a second signal',
    run: stopOnHungDisk,
  },
]
