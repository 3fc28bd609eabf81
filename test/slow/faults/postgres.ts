// The PostgreSQL server is hurt, while 64 clients create plants: none that was acknowledged may be lost.
import { once, request } from '../../harness/http.ts'
import type { Daemon } from './daemon.ts'
import type { Fault } from './fault.ts'
import { create, errorOf, fateOf } from './load.ts'
import {
  answered,
  CLIENTS,
  expectErrors,
  expectHealth,
  type Guarded,
  HEALED_MS,
  type Hurt,
  heals,
  type Scene,
  startEmpty,
  startPair,
  underLoad,
} from './postgres-load.ts'
import { failOver, serveBefore, urlOf } from './postgres-server.ts'

const terminateBackends: Hurt = async ({ server, report }) => {
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
  report.expect(ended >= 30, `too few backends terminated: ${ended}`)
  return undefined
}

const read = async (daemon: Daemon): Promise<number> => {
  const answer = await once(daemon.port, request('GET', '/plants/1', daemon.token))
  return answer ? errorOf(answer) : 0
}

/** Expects that health fails, and that a read is answered with an error, for so long; then it is healed. */
async function expectIllness(
  scene: Scene,
  heal: () => unknown,
  { ms, error }: { ms: number; error?: number },
): Promise<void> {
  const over = Bun.sleep(ms)
  const reading = error === undefined ? undefined : read(scene.daemon)
  await expectHealth(scene, 503)
  await over
  await heal()
  await expectHealth(scene, 200)
  const found = await reading
  scene.report.expect(found === error, `a read meanwhile is answered with ${found}`)
}

const freeze: Hurt = async (scene) => {
  await expectIllness(scene, scene.server.freeze(), { ms: 5000 })
  return undefined
}

/** The server waits for a standby that does not answer: no commit is confirmed, and reads go on. */
const freezeStandby: Hurt<Guarded> = async (scene) => {
  await expectIllness(scene, scene.standby.freeze(), { ms: 5000, error: 40402 })
  return undefined
}

/** The server is away for longer than a change waits. */
const goAway: Hurt = async (scene) => {
  const { server, load, report } = scene
  await server.stop()
  await expectIllness(scene, () => server.start(), { ms: 11_000, error: 50302 })
  report.expect(answered(load, 50302) >= CLIENTS, 'changes are not refused with 50302')
  expectErrors(scene, 50302)
  return undefined
}

const failOverToStandby: Hurt<Guarded> = async ({ server, standby }) => {
  await failOver(server, standby)
  return standby
}

// A plant that the load does not reach.
const BEYOND = 1e9

/** The standby is promoted though the server lives on: it takes writes, and can confirm none of them. */
const promoteBeside: Hurt<Guarded> = async (scene) => {
  const { server, standby, load, report } = scene
  await standby.query('SELECT pg_promote()')
  const [another] = await Promise.all([serveBefore(urlOf([server, standby])), heals(scene)])
  const entry = fateOf(await create(another, BEYOND))
  load.ledger.set(BEYOND, entry)
  report.expect(entry.fate === 'stored', 'another does not work')
  await another.stop()
  return standby
}

const alone = (name: string, about: string, hurt: Hurt): Fault => ({
  name: `postgres-${name}`,
  about,
  run: async (_, report) => underLoad([await startEmpty()], hurt, report),
})

const guarded = (name: string, about: string, hurt: Hurt<Guarded>): Fault => ({
  name: `postgres-${name}`,
  about,
  async run(_, report) {
    const hosts = await startPair(true)
    const [, standby] = hosts
    return underLoad(hosts, (scene) => hurt({ ...scene, standby }), report)
  },
})

export const postgresFaults: Fault[] = [
  alone('terminate', 'the backends are terminated every 0.1 s', terminateBackends),
  alone('freeze', 'PostgreSQL is frozen for 5 s', freeze),
  alone('away', 'PostgreSQL is away for 11 s: /health and reads fail, and recover', goAway),
  guarded('standby', 'the synchronous standby hangs for 5 s: /health fails', freezeStandby),
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
]
