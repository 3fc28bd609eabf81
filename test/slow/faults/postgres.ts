// The PostgreSQL server is hurt, while 64 clients create plants: none that was acknowledged may be lost.
import { once, request } from '../../harness/http.ts'
import type { Daemon } from './daemon.ts'
import { comesTrue, count, type Fault } from './fault.ts'
import { acknowledged, create, errorOf, fateOf, health } from './load.ts'
import {
  answered,
  type GuardedScene,
  HEALED_MS,
  type Hurt,
  recordGuarded,
  type Scene,
  underGuardedLoad,
  underLoad,
} from './postgres-load.ts'
import { failOver, type Server, serveBefore, signalAll, urlOf } from './postgres-server.ts'

const HANG_MS = 5000

async function killAllOnce({ server, problems, load }: Scene): Promise<void> {
  await server.killAll()
  await Bun.sleep(500)
  await server.start()
  if (!(await acknowledged(load.ledger, 500, HEALED_MS))) problems.push('it did not heal')
}

const killServer: Hurt<Scene> = async (scene) => {
  for (let i = 0; i < 2; i++) await killAllOnce(scene)
  return undefined
}

const stopImmediately: Hurt<Scene> = async ({ server, load }) => {
  for (let i = 0; i < 2; i++) {
    await server.stop('SIGQUIT')
    await server.start()
    await acknowledged(load.ledger, 500, HEALED_MS)
  }
  return undefined
}

const backendsOf = async (server: Server): Promise<number[]> => {
  const rows: { pid: number }[] = await server.query(
    "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'plantstore@%'",
  )
  return rows.map(({ pid }) => pid)
}

/** The server ends all backends and recovers when one of them is killed. */
const killBackends: Hurt<Scene> = async ({ server, load, problems }) => {
  for (let i = 0; i < 2; i++) {
    signalAll(await backendsOf(server), 'SIGKILL')
    if (!(await acknowledged(load.ledger, 500, HEALED_MS))) problems.push('it did not heal')
  }
  return undefined
}

const terminateBackends: Hurt<Scene> = async ({ server, problems }) => {
  const deadline = performance.now() + HEALED_MS
  let ended = 0
  // A busy machine connects again slowly.
  for (let i = 0; (i < 30 || ended < 30) && performance.now() < deadline; i++) {
    const [row] = await server.query(
      `SELECT count(pg_terminate_backend(pid))::int AS ended FROM pg_stat_activity
       WHERE application_name LIKE 'plantstore@%'`,
    )
    ended += row.ended
    await Bun.sleep(100)
  }
  if (ended < 30) problems.push(`only ${count(ended, 'backend')} terminated`)
  return undefined
}

const read = async (daemon: Daemon): Promise<number> => {
  const answer = await once(daemon.port, request('GET', '/plants/1', daemon.token))
  return answer ? errorOf(answer) : 0
}

/** Waits until health fails; until it does not, once `heal` was called. */
async function expectIllness({ daemon, problems }: Scene, heal: () => unknown, ms: number) {
  const start = performance.now()
  if (!(await comesTrue(ms, async () => (await health(daemon)) === 503))) {
    problems.push('health does not show it')
  }
  await Bun.sleep(Math.max(0, start + ms - performance.now()))
  await heal()
  if (!(await comesTrue(HEALED_MS, async () => (await health(daemon)) === 200))) {
    problems.push('health stays bad')
  }
}

const freeze: Hurt<Scene> = async (scene) => {
  await expectIllness(scene, scene.server.freeze(), HANG_MS)
  return undefined
}

/** The server waits for a standby that does not answer: no commit is confirmed, and reads go on. */
const freezeStandby: Hurt<GuardedScene> = async (scene) => {
  const resume = scene.standby.freeze()
  const reading = Bun.sleep(HANG_MS / 2).then(() => read(scene.daemon))
  await expectIllness(scene, resume, HANG_MS)
  const found = await reading
  if (found !== 40402) scene.problems.push(`a read meanwhile is answered with ${found}`)
  return undefined
}

const GONE_MS = 11_000

/** The server is away for longer than a change waits. */
const goAway: Hurt<Scene> = async (scene) => {
  const { server, load, daemon, problems } = scene
  await server.stop()
  const reading = read(daemon)
  await expectIllness(scene, () => server.start(), GONE_MS)
  const found = await reading
  if (found !== 50302) problems.push(`a read meanwhile is answered with ${found}`)
  if (answered(load, 50302) < 64) problems.push('changes are not refused with 50302')
  const wrong = [...load.errors.keys()].filter((error) => error !== 50302)
  if (wrong.length > 0) problems.push(`answered with ${wrong.join(', ')}`)
  return undefined
}

const failOverToStandby: Hurt<GuardedScene> = async ({ server, standby }) => {
  await failOver(server, standby)
  return standby
}

// A plant that the load does not reach.
const BEYOND = 1e9

/** The standby is promoted though the server lives on: it takes writes, and can confirm none of them. */
const promoteBeside: Hurt<GuardedScene> = async (scene) => {
  const { server, standby, load, problems } = scene
  await standby.query('SELECT pg_promote()')
  const [another, isMoved] = await Promise.all([
    serveBefore(urlOf([server, standby])),
    acknowledged(load.ledger, 500, HEALED_MS),
  ])
  if (!isMoved) problems.push('it did not move')
  const entry = fateOf(await create(another, BEYOND))
  load.ledger.set(BEYOND, entry)
  if (entry.fate !== 'stored') problems.push('another does not work')
  await another.stop()
  return standby
}

/** An asynchronous standby that lags when the server dies: what sends it the log stands still. */
const failOverBehind: Hurt<GuardedScene> = async (scene) => {
  const { server, load } = scene
  const [sender] = await server.query('SELECT pid FROM pg_stat_replication')
  process.kill(sender.pid, 'SIGSTOP')
  await acknowledged(load.ledger, 1000, HEALED_MS)
  return failOverToStandby(scene)
}

/** The control: what is acknowledged is lost, and the ledger and the lane both tell of it. */
async function loseByFailover(about: string) {
  const {
    outcome,
    verdict,
    lostCommits: told,
    daemon,
  } = await recordGuarded(about, false, failOverBehind)
  const { problems } = outcome
  if (verdict.lost === 0) problems.push('nothing was lost')
  if (told === 0) problems.push('the lane tells of no lost commit')
  if (
    !daemon.events().some(({ event, commits }) => event === 'acknowledged-lost' && commits === told)
  ) {
    problems.push('the log does not tell of it')
  }
  return { ...outcome, lost: `${verdict.lost} lost, the lane tells of ${count(told, 'commit')}` }
}

const alone = (name: string, about: string, hurt: Hurt<Scene>): Fault => ({
  name: `postgres-${name}`,
  about,
  run: () => underLoad(about, hurt),
})

const guarded = (name: string, about: string, hurt: Hurt<GuardedScene>): Fault => ({
  name: `postgres-${name}`,
  about,
  run: () => underGuardedLoad(about, hurt),
})

export const postgresFaults: Fault[] = [
  alone('kill', 'kill -9 of all of PostgreSQL, and a restart', killServer),
  alone('immediate', 'PostgreSQL is stopped in mode immediate, and started again', stopImmediately),
  alone('backends', 'kill -9 of the backends of PostgreSQL', killBackends),
  alone('terminate', 'the backends are terminated every 0.1 s', terminateBackends),
  alone('freeze', 'PostgreSQL stands still for 5 s', freeze),
  alone('away', 'PostgreSQL is away for 11 s: health and reads tell, and it comes back', goAway),
  guarded('standby', 'the synchronous standby hangs for 5 s: health tells', freezeStandby),
  guarded(
    'failover',
    'PostgreSQL is killed, and its synchronous standby promoted',
    failOverToStandby,
  ),
  guarded(
    'deposed',
    'the standby is promoted beside PostgreSQL: daemons leave the one that cannot confirm',
    promoteBeside,
  ),
  {
    name: 'postgres-failover-control',
    about: 'the same with an asynchronous standby: plants are lost, and the lane tells of it',
    run() {
      return loseByFailover(this.about)
    },
  },
]
