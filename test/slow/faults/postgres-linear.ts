// Checks that one order of all operations explains the answers of two daemons with one PostgreSQL server.
import { PASSWORD } from '../../../tools/postgres/server.ts'
import type { Daemon } from './daemon.ts'
import { comesTrue, type Fault, type Report } from './fault.ts'
import { followLog, judgeLog } from './feed.ts'
import { type LinearLoad, startLinearLoad } from './linear-load.ts'
import { isEnough, reportOn } from './linear-report.ts'
import {
  DATABASE,
  failOver,
  type Server,
  serveBefore,
  signalAll,
  startServer,
  startStandby,
  urlOf,
} from './postgres-server.ts'
import { stopWell } from './verify.ts'

// Each daemon has a user of its own, so that its backends are known.
const USERS = ['one', 'two'] as const
const OLDEST = 0
const NEWEST = 1

interface Scene {
  server: Server
  standby: Server | undefined
  load: LinearLoad
  report: Report
  /** Kills the daemon with this index, and starts another. */
  restart: (place: number) => Promise<void>
}

type Hurt = (scene: Scene) => Promise<unknown>

interface Trial {
  hurt: Hurt
  /** True if a synchronous standby waits to be promoted. */
  isGuarded: boolean
  /** The longest pause of a client between two operations. */
  pauseMs: number
}

/** The backends of the daemon of a place; `commits`: only the one that commits. */
async function backendsOf(server: Server, place: number, commits = false): Promise<number[]> {
  const rows: { pid: number }[] = await server.query(
    `SELECT pid FROM pg_stat_activity WHERE usename = '${USERS[place]}'
     ${commits ? "AND query ~ 'lanes|COMMIT|UPDATE'" : ''}`,
  )
  return rows.map(({ pid }) => pid)
}

async function underFault({ hurt, isGuarded, pauseMs }: Trial, report: Report): Promise<void> {
  // The newest is without what makes a standby.
  const server = await startServer({}, isGuarded ? OLDEST : NEWEST)
  await server.createDatabase(DATABASE)
  for (const user of USERS) {
    await server.query(`CREATE ROLE ${user} SUPERUSER LOGIN PASSWORD '${PASSWORD}'`)
  }
  const standby = isGuarded ? await startStandby(server, true) : undefined
  const hosts = standby ? [server, standby] : [server]
  const start = (place: number) =>
    serveBefore(urlOf(hosts, USERS[place]), { env: { PLANTSTORE_KEEP_CHANGES: '1d' } })
  const daemons: Daemon[] = await Promise.all(USERS.map((_, place) => start(place)))
  const load = startLinearLoad(daemons, pauseMs)
  // Of either daemon, so that it sees what each commits between the other's.
  const logs = USERS.map((_, place) => followLog(() => load.target(place), report))
  const scene: Scene = {
    server,
    standby,
    load,
    report,
    async restart(place) {
      const old = daemons[place]
      if (old === undefined) throw new Error('there is no such daemon')
      load.turnTo(undefined, place)
      await old.kill()
      // Its backends may yet commit what it has sent.
      const isGone = async () => (await backendsOf(server, place)).length === 0
      await report.expectSoon(5000, isGone, 'backends outlive their daemon')
      load.processEnded(old, place)
      const next = await start(place)
      daemons[place] = next
      load.turnTo(next, place)
    },
  }
  await Bun.sleep(500)
  await hurt(scene)
  await Bun.sleep(300)
  // On a busy machine the faults are over before enough was done beside them.
  await comesTrue(15_000, () => isEnough(load))
  await load.finish()
  for (const [place, log] of logs.entries()) {
    const entries = await log.finish(daemons[place] as Daemon)
    const isNew = log.resets() > 0
    report.expect(isNew === isGuarded, 'another log began, or none did after a failover')
    judgeLog(entries, load.history.operations, report)
  }
  for (const daemon of daemons) {
    const lost = await daemon.metric('plantstore_acknowledged_commits_lost_total')
    report.expect(lost === 0, 'a lane reports a loss')
    await stopWell(daemon, report)
  }
  report.note(...load.strange)
  reportOn(load, report)
}

/** Waits until changes are made again. */
async function heals({ load, report }: Scene): Promise<void> {
  const changes = load.changes()
  await report.expectSoon(15_000, () => load.changes() > changes + 300, 'it did not heal')
  // Not in step with the commits.
  await Bun.sleep(Math.random() * 200)
}

const killDaemons: Hurt = async (scene) => {
  for (let i = 0; i < 4; i++) {
    await Bun.sleep(300 + Math.random() * 300)
    await scene.restart(i % USERS.length)
  }
}

/** Those of one daemon; the server ends all others, too. */
const killBackends: Hurt = async (scene) => {
  for (let i = 0; i < 2; i++) {
    signalAll(await backendsOf(scene.server, i % USERS.length, true), 'SIGKILL')
    await heals(scene)
  }
}

const killServer: Hurt = async (scene) => {
  for (let i = 0; i < 2; i++) {
    await scene.server.killAll()
    await scene.server.start()
    await heals(scene)
  }
}

// Operations unanswered at a kill may take effect at any later time: the pause limits their number. Beside half of all
// clients that wait for seconds, each operation of the others leaves many states possible.
const PAUSE_MS = 12
const LONG_PAUSE_MS = 40
const HANG_MS = 7000

/** For longer than the daemon waits for its commit; then it goes on. */
const stopBackend: Hurt = async (scene) => {
  const pids = await backendsOf(scene.server, 0, true)
  signalAll(pids, 'SIGSTOP')
  await Bun.sleep(HANG_MS)
  signalAll(pids, 'SIGCONT')
  await heals(scene)
}

const failOverOnce: Hurt = async (scene) => {
  if (!scene.standby) throw new Error('there is no standby')
  await heals(scene)
  await failOver(scene.server, scene.standby)
  for (let i = 0; i < 3; i++) await heals(scene)
}

const scenes = [
  ['kill', 'kill -9 of each of them', killDaemons],
  ['backend', 'kill -9 of backends', killBackends],
  ['server', 'kill -9 of all of PostgreSQL, and a restart', killServer],
  ['stopped', 'a backend stands still for 7 s, and goes on', stopBackend],
  ['failover', 'a failover to the synchronous standby', failOverOnce],
] as const

export const postgresLinearFaults: Fault[] = scenes.map(([name, what, hurt]) => {
  const isGuarded = hurt === failOverOnce
  const pauseMs = hurt === stopBackend ? LONG_PAUSE_MS : PAUSE_MS
  return {
    name: `postgres-linear-${name}`,
    about: `one order of all operations explains every answer of two daemons: ${what}`,
    run: (_, report) => underFault({ hurt, isGuarded, pauseMs }, report),
  }
})
