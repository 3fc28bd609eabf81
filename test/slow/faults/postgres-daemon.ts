// The daemon itself is stopped and started before a PostgreSQL server.
import type { Daemon } from './daemon.ts'
import { comesTrue, type Fault, type Report } from './fault.ts'
import { acknowledged, type Ledger, recovers, settle, startLoad, tally } from './load.ts'
import { CLIENTS, startEmpty } from './postgres-load.ts'
import {
  DATABASE,
  expectLeft,
  expectNoLane,
  launchBefore,
  serveBefore,
  urlOf,
} from './postgres-server.ts'
import { stopWell } from './verify.ts'

const TIMES = 5
const STARTS = 4
// Half of the deadline that a daemon has by default.
const SOON_MS = 4000

/** Stops a daemon under load; returns its exit code, its log, and how many milliseconds it took. */
async function stopUnderLoad(
  url: string,
  { ledger, from, stopSeconds }: { ledger: Ledger; from: number; stopSeconds: number },
  hurt: (daemon: Daemon) => unknown,
) {
  const daemon = await serveBefore(url, { env: { PLANTSTORE_STOP_SECONDS: String(stopSeconds) } })
  const load = startLoad(daemon, { ledger, clients: CLIENTS, from })
  await acknowledged(ledger, 300, 10_000)
  await hurt(daemon)
  const start = performance.now()
  const code = await daemon.stop()
  const took = Math.round(performance.now() - start)
  await load.stop()
  return { code, took, log: daemon.err() }
}

async function stopDaemon(_: string, report: Report): Promise<void> {
  const server = await startEmpty()
  const ledger: Ledger = new Map()
  for (let i = 0; i < TIMES; i++) {
    const options = { ledger, from: 1 + i * 1e6, stopSeconds: 8 }
    const pause = () => Bun.sleep(Math.random() * 200)
    const { code, took } = await stopUnderLoad(urlOf([server]), options, pause)
    report.expect(code === 0, `exit code ${code}`)
    report.expect(took <= SOON_MS, `an end after ${took} ms`)
  }
  const { refused, unknown } = tally(ledger)
  report.expect(refused + unknown === 0, `${refused} refused, ${unknown} unanswered`)
  await expectNoLane(server, report)
  await expectLeft(server, ledger, report)
}

/** SIGTERM while the server stands still, or is gone: it ends in time, and says what is in doubt. */
async function stopWithout(_: string, report: Report): Promise<void> {
  const server = await startEmpty()
  const url = urlOf([server])
  const ledger: Ledger = new Map()
  const stopSeconds = 2
  const kill = async () => {
    await server.killAll()
    return () => server.start()
  }
  const hurts = [async () => server.freeze(), kill] as const
  for (const [place, hurt] of hurts.entries()) {
    let heal: () => unknown = () => {}
    const options = { ledger, from: 1 + place * 1e6, stopSeconds }
    const { code, took, log } = await stopUnderLoad(url, options, async () => {
      heal = await hurt()
      await Bun.sleep(300)
    })
    report.expect(code === 74, `exit code ${code}`)
    report.expect(took <= 2 * stopSeconds * 1000, `an end after ${took} ms`)
    report.expect(log.includes('may or may not be stored'), 'the log reports no commit in doubt')
    await heal()
  }
  // What it has sent is made once no session of it is left, or never.
  const isAlone = async () =>
    (
      await server.query(
        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'plantstore@%'",
      )
    ).length === 0
  await report.expectSoon(5000, isAlone, 'backends outlive the daemon')
  const daemon = await serveBefore(url)
  await settle(daemon, ledger)
  await stopWell(daemon, report)
  await expectLeft(server, ledger, report)
}

/** The server dies at some moment of the start: one line, or a daemon that works once the server is back. */
async function startWithout(_: string, report: Report): Promise<void> {
  const server = await startEmpty()
  const expectLine = (code: number, line: string) => {
    const isRight = code === 1 && /^plantstore: cannot connect to PostgreSQL at .+\n$/.test(line)
    report.expect(isRight, `it ends with ${code}: ${JSON.stringify(line)}`)
  }
  const url = urlOf([server]).replace(DATABASE, 'started')
  for (let i = 0; i < STARTS; i++) {
    await server.query('DROP DATABASE IF EXISTS started WITH (FORCE)')
    await server.query('CREATE DATABASE started')
    const run = launchBefore(url)
    await Bun.sleep(40 + i * 30)
    await server.killAll()
    let code: number | undefined
    void run.finished.then((it) => {
      code = it
    })
    await comesTrue(5000, () => code !== undefined || run.err().includes('"listening"'))
    await server.start()
    if (code !== undefined) expectLine(code, run.err())
    await run.kill()
    const daemon = await serveBefore(url)
    report.expect(await recovers(daemon, new Map(), 5000), 'no creates after it')
    await daemon.stop()
  }
  const resume = server.freeze()
  const run = launchBefore(`${url}?connect_timeout=1`)
  const code = await run.finished
  resume()
  expectLine(code, run.err())
}

export const postgresDaemonFaults: Fault[] = [
  {
    name: 'postgres-sigterm',
    about: 'SIGTERM under load: every request is answered',
    run: stopDaemon,
  },
  {
    name: 'postgres-sigterm-away',
    about: 'SIGTERM while PostgreSQL stands still or is gone: it ends in time with 74',
    run: stopWithout,
  },
  {
    name: 'postgres-start',
    about: 'PostgreSQL is killed while the daemon starts, or stands still',
    run: startWithout,
  },
]
