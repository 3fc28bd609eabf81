// A standby is hurt, while 16 clients write to its primary: a read-only daemon before it never shows a client an answer
// without that client's own change, and streams every change once, in order.
import { type Change, ClientError, createClient } from '../../../src/client/client.ts'
import { startProxy } from '../../harness/cuttable.ts'
import type { Daemon } from './daemon.ts'
import { comesTrue, type Fault, type Report } from './fault.ts'
import { after } from './lab.ts'
import { acknowledged, health, type Load, startLoad } from './load.ts'
import { startPair } from './postgres-load.ts'
import { DATABASE, failOver, type Server, serveBefore, urlOf } from './postgres-server.ts'
import { stopWell } from './verify.ts'

const CLIENTS = 16
const HEALED_MS = 30_000
/** Ids that the load does not reach. */
const BEYOND = 1_000_000_000

interface Scene {
  primary: Server
  standby: Server
  /** Between the standby and the read-only daemon. */
  way: ReturnType<typeof startProxy>
  writing: Daemon
  reading: Daemon
  load: Load
  report: Report
}

interface Status {
  plants: number | null
  replica: { lagSeconds: number }
}

const statusOf = async (daemon: Daemon): Promise<Status> =>
  (await (await daemon.fetch('/status')).json()) as Status
const lagOf = async (daemon: Daemon): Promise<number> => (await statusOf(daemon)).replica.lagSeconds
const healthOf = async (daemon: Daemon): Promise<string> =>
  ((await (await daemon.fetch('/health')).json()) as { status?: string }).status ?? '503'

/** The number of the error in an answer; 0 for none. */
const errorOf = async (answer: Response): Promise<number> =>
  answer.ok ? 0 : ((await answer.json()) as { error: number }).error

/** A client that writes to the primary, and reads its own change from the replica. */
function startOwnReads({ writing, reading, report }: Scene) {
  let seen = 0
  let isStopped = false
  async function readOwn(id: number): Promise<void> {
    const written = await writing.fetch('/plants', { json: { id, name: 'own' } })
    const cursor = written.headers.get('plantstore-cursor')
    if (!written.ok || cursor === null) return
    const read = await reading.fetch(`/plants/${id}`, { headers: { 'plantstore-cursor': cursor } })
    const error = await errorOf(read)
    if (error === 0) seen += 1
    else if (error !== 50301 && error !== 50302)
      report.note(`the read of an own change is answered with ${error}`)
  }
  const ended = (async () => {
    for (let id = BEYOND; !isStopped; id++) {
      await readOwn(id).catch((error) => report.note(String(error)))
      await Bun.sleep(20)
    }
  })()
  return {
    seen: () => seen,
    async stop() {
      isStopped = true
      await ended
    },
  }
}

const numberOf = ({ cursor }: Change): number => Number(cursor.split('-')[1])

/** Follows the replica; another history begins anew. Each change must come once, in order. */
function startFollowing({ reading, report }: Scene) {
  const client = createClient({ url: reading.url, token: reading.token })
  const ending = new AbortController()
  let last = 0
  async function follow(): Promise<void> {
    for await (const change of client.changes({ after: 'now', signal: ending.signal })) {
      const number = numberOf(change)
      report.expect(last === 0 || number === last + 1, `change ${number} follows ${last}`)
      last = number
    }
  }
  const ended = (async () => {
    while (!ending.signal.aborted) {
      await follow().catch((error) => {
        if (!(error instanceof ClientError && error.failure.error === 41001)) throw error
        last = 0
      })
    }
  })().catch((error) => report.note(`the stream ends: ${error}`))
  return {
    async stop() {
      ending.abort()
      await ended
    },
  }
}

async function startScene(report: Report, isSynchronous: boolean): Promise<Scene> {
  const [primary, standby] = await startPair(isSynchronous)
  const way = startProxy(standby.port)
  after(() => way[Symbol.dispose]())
  const writing = await serveBefore(urlOf([primary, standby]), { words: ['--keep-changes', '1d'] })
  const hasTables = async () => {
    const [found] = await standby.query("SELECT to_regclass('lanes') AS lanes", DATABASE)
    return found?.lanes !== null
  }
  if (!(await comesTrue(HEALED_MS, hasTables))) throw new Error('the standby has no tables')
  const at = urlOf([{ port: way.port }])
  const reading = await serveBefore(at, { words: ['--read-only'] })
  const load = startLoad(writing, { clients: CLIENTS })
  return { primary, standby, way, writing, reading, load, report }
}

type Hurt = (scene: Scene) => Promise<void>

async function underLoad(isSynchronous: boolean, hurt: Hurt, report: Report): Promise<void> {
  const scene = await startScene(report, isSynchronous)
  const { writing, reading, load } = scene
  const own = startOwnReads(scene)
  const following = startFollowing(scene)
  report.expect(await acknowledged(load.ledger, 1000, HEALED_MS), 'too slow')
  await hurt(scene)
  report.expect(await acknowledged(load.ledger, 500, HEALED_MS), 'writes did not heal')
  const before = own.seen()
  await report.expectSoon(HEALED_MS, () => own.seen() > before, 'own changes are not seen again')
  await load.stop()
  await own.stop()
  const isEqual = async () => (await statusOf(reading)).plants === (await statusOf(writing)).plants
  await report.expectSoon(HEALED_MS, isEqual, 'the replica lacks plants')
  const isWell = async () => (await healthOf(reading)) === 'ok'
  await report.expectSoon(HEALED_MS, isWell, 'health stays bad')
  await following.stop()
  for (const daemon of [reading, writing]) await stopWell(daemon, report)
  const hasBug = reading.events().some(({ event }) => event === 'unexpected')
  report.expect(!hasBug, 'it logs a bug')
}

async function expectBehind({ reading, report }: Scene): Promise<void> {
  const isBehind = async () => (await lagOf(reading)) > 10 && (await healthOf(reading)) === 'behind'
  await report.expectSoon(HEALED_MS, isBehind, 'it does not say that it is behind')
  report.expect((await reading.fetch('/plants?limit=1')).ok, 'it does not read meanwhile')
}

const fallBehind: Hurt = async (scene) => {
  await scene.standby.query('SELECT pg_wal_replay_pause()')
  await expectBehind(scene)
  await scene.standby.query('SELECT pg_wal_replay_resume()')
}

/** Expects that the standby applies what its primary writes, up to so many seconds ago. */
const expectLag = ({ reading, report }: Scene, seconds: number): Promise<void> =>
  report.expectSoon(HEALED_MS, async () => (await lagOf(reading)) <= seconds, 'it lags behind')

const promote: Hurt = async (scene) => {
  const { primary, standby, reading, report } = scene
  await failOver(primary, standby)
  await standby.query("ALTER SYSTEM SET synchronous_standby_names = ''")
  await standby.query('SELECT pg_reload_conf()')
  await expectLag(scene, 0)
  const isLost = reading.events().some(({ event }) => event === 'server-lost')
  report.expect(!isLost, 'it has lost the standby that was promoted')
}

/** First the standby loses its primary, then the daemon its standby. */
const cutOff: Hurt = async (scene) => {
  const { way, standby, reading, report } = scene
  const [found] = await standby.query("SELECT current_setting('primary_conninfo') AS info")
  const followAt = async (info: string) => {
    await standby.query(`ALTER SYSTEM SET primary_conninfo = '${info.replaceAll("'", "''")}'`)
    await standby.query('SELECT pg_reload_conf()')
  }
  await followAt('host=127.0.0.1 port=1')
  await expectBehind(scene)
  await followAt(found.info)
  await expectLag(scene, 5)
  await standby.stop()
  way.cut()
  const isCut = async () => (await health(reading)) === 503
  await report.expectSoon(HEALED_MS, isCut, 'health does not say that it is cut off')
  const error = await errorOf(await reading.fetch('/plants/1'))
  report.expect(error === 50302, `a read meanwhile is answered with ${error}`)
  await standby.start()
}

const replica = (name: string, about: string, hurt: Hurt, isSynchronous = false): Fault => ({
  name: `postgres-replica-${name}`,
  about,
  run: (_, report) => underLoad(isSynchronous, hurt, report),
})

export const postgresReplicaFaults: Fault[] = [
  replica('behind', 'the standby of a read-only daemon applies nothing for 10 s', fallBehind),
  replica('promoted', 'the standby of a read-only daemon is promoted', promote, true),
  replica('cut', 'a read-only daemon and its standby are cut off, one after the other', cutOff),
]
