// 64 clients that create plants by a daemon before a PostgreSQL server, while that is hurt.
import type { Daemon } from './daemon.ts'
import { comesTrue, count, type Outcome, tally } from './fault.ts'
import { acknowledged, health, type Load, settle, startLoad } from './load.ts'
import {
  DATABASE,
  type Server,
  serveBefore,
  startServer,
  startStandby,
  urlOf,
  verifyServer,
} from './postgres-server.ts'
import { faultsOf, type Verdict } from './verify.ts'

export const CLIENTS = 64
export const HEALED_MS = 15_000

export interface Scene {
  server: Server
  daemon: Daemon
  load: Load
  problems: string[]
}

export interface GuardedScene extends Scene {
  standby: Server
}

/** Hurts the server, and heals it; resolves to the one that is left, if it is another. */
export type Hurt<On extends Scene> = (scene: On) => Promise<Server | undefined>

export interface Told {
  outcome: Outcome
  verdict: Verdict
  /** The commits that a failover lost, by the daemon's metrics. */
  lostCommits: number
  daemon: Daemon
}

export const answered = (load: Load, error: number): number => load.errors.get(error) ?? 0

/** The longest time between two acknowledged plants. */
function startWatch() {
  let last = performance.now()
  let longest = 0
  return {
    onStored() {
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
    },
    seconds: () => (longest / 1000).toFixed(1),
  }
}

async function record<On extends Scene>(
  about: string,
  scene: Omit<On, keyof Scene> & { server: Server },
  hosts: readonly Server[],
  hurt: (scene: Omit<On, keyof Scene> & Scene) => Promise<Server | undefined>,
): Promise<Told> {
  const { server } = scene
  const problems: string[] = []
  const daemon = await serveBefore(urlOf(hosts))
  const watch = startWatch()
  const load = startLoad(daemon, { clients: CLIENTS, onStored: watch.onStored })
  const { ledger } = load
  if (!(await acknowledged(ledger, 2000, HEALED_MS))) problems.push('too slow')
  // Not in step with the commits.
  await Bun.sleep(Math.random() * 500)

  const left = (await hurt({ ...scene, daemon, load, problems })) ?? server
  if (!(await acknowledged(ledger, 1000, HEALED_MS))) problems.push('it did not heal')
  if (!(await comesTrue(5000, async () => (await health(daemon)) === 200))) {
    problems.push('health stays bad')
  }
  await load.stop()
  const { stored, refused, unknown } = tally(ledger)
  if (unknown > 0) problems.push(`${count(unknown, 'request')} without an answer`)
  await settle(daemon, ledger)
  const made = await daemon.metric('plantstore_commits_in_doubt_total{made="true"}')
  const notMade = await daemon.metric('plantstore_commits_in_doubt_total{made="false"}')
  const lostCommits = await daemon.metric('plantstore_acknowledged_commits_lost_total')
  const moves = await daemon.metric('plantstore_server_failovers_total')
  if (moves !== (left === server ? 0 : 1)) problems.push(`it tells of ${moves} failovers`)
  if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
  const [lanes] = await left.query('SELECT count(*)::int AS count FROM lanes', DATABASE)
  if (lanes?.count !== 0) problems.push('a lane is left')
  const verdict = await verifyServer(left, ledger)

  const doubt = `${made + notMade} in doubt: ${made} made, ${notMade} not`
  const many = `${count(stored, 'plant')} acknowledged, ${refused} refused, ${doubt}`
  return {
    outcome: {
      tried: about,
      many: `${server.installation.name}, ${many}, longest gap ${watch.seconds()} s`,
      lost: `${verdict.lost} lost, ${verdict.returned} came back`,
      problems,
    },
    verdict,
    lostCommits,
    daemon,
  }
}

function judged({ outcome, verdict, lostCommits: lost, daemon }: Told): Outcome {
  const { problems } = outcome
  problems.push(...faultsOf(verdict))
  if (lost !== 0) problems.push(`the lane tells of ${lost} lost commits`)
  const wrong = daemon.events().filter(({ event }) => event === 'unexpected')
  if (wrong.length > 0) problems.push(`it logs ${JSON.stringify(wrong[0])}`)
  return outcome
}

/** A server alone under load: nothing may be lost. */
export async function underLoad(about: string, hurt: Hurt<Scene>): Promise<Outcome> {
  const server = await startServer()
  await server.createDatabase(DATABASE)
  return judged(await record<Scene>(about, { server }, [server], hurt))
}

/** The same of a server that exists. */
export const underLoadAt = async (
  server: Server,
  about: string,
  hurt: Hurt<Scene>,
): Promise<Outcome> => judged(await record<Scene>(about, { server }, [server], hurt))

/** A server with a standby, both in the URL. */
export async function recordGuarded(
  about: string,
  isSynchronous: boolean,
  hurt: Hurt<GuardedScene>,
): Promise<Told> {
  const server = await startServer()
  await server.createDatabase(DATABASE)
  const standby = await startStandby(server, isSynchronous)
  return record<GuardedScene>(about, { server, standby }, [server, standby], hurt)
}

/** A server with a synchronous standby under load: nothing may be lost. */
export const underGuardedLoad = async (about: string, hurt: Hurt<GuardedScene>): Promise<Outcome> =>
  judged(await recordGuarded(about, true, hurt))
