// A standby is hurt, while 16 clients write to its primary: a read-only daemon before it never shows a client an answer
// without that client's own change, and streams every change once, in order.
import { type Change, ClientError, createClient } from '../../../src/client/client.ts'
import { startProxy } from '../../harness/cuttable.ts'
import type { Daemon } from './daemon.ts'
import { comesTrue, count, type Fault, type Outcome } from './fault.ts'
import { after } from './lab.ts'
import { acknowledged, health, type Load, startLoad } from './load.ts'
import {
  DATABASE,
  failOver,
  type Server,
  serveBefore,
  startServer,
  startStandby,
  urlOf,
} from './postgres-server.ts'

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
  problems: string[]
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

/** A client that writes to the primary, and reads its own change from the replica. */
function startOwnReads({ writing, reading, problems }: Scene) {
  const counts = { seen: 0, busy: 0, away: 0 }
  let isStopped = false
  async function readOwn(id: number): Promise<void> {
    const written = await writing.fetch('/plants', { json: { id, name: 'own' } })
    const cursor = written.headers.get('plantstore-cursor')
    if (!written.ok || cursor === null) return
    const read = await reading.fetch(`/plants/${id}`, { headers: { 'plantstore-cursor': cursor } })
    const error = read.ok ? 0 : ((await read.json()) as { error: number }).error
    if (error === 0) counts.seen += 1
    else if (error === 50301) counts.busy += 1
    else if (error === 50302) counts.away += 1
    else problems.push(`the read of an own change is answered with ${error}`)
  }
  const ended = (async () => {
    for (let id = BEYOND; !isStopped; id++) {
      await readOwn(id).catch((error) => problems.push(String(error)))
      await Bun.sleep(20)
    }
  })()
  return {
    counts,
    async stop() {
      isStopped = true
      await ended
    },
  }
}

const numberOf = ({ cursor }: Change): number => Number(cursor.split('-')[1])

/** Follows the replica; another history begins anew. Each change must come once, in order. */
function startFollowing({ reading, problems }: Scene) {
  const client = createClient({ url: reading.url, token: reading.token })
  const ending = new AbortController()
  let [changes, last] = [0, 0]
  async function follow(): Promise<void> {
    for await (const change of client.changes({ after: 'now', signal: ending.signal })) {
      const number = numberOf(change)
      if (last > 0 && number !== last + 1) problems.push(`change ${number} follows ${last}`)
      last = number
      changes += 1
    }
  }
  const ended = (async () => {
    while (!ending.signal.aborted) {
      await follow().catch((error) => {
        if (!(error instanceof ClientError && error.failure.error === 41001)) throw error
        last = 0
      })
    }
  })().catch((error) => problems.push(`the stream ends: ${error}`))
  return {
    changes: () => changes,
    async stop() {
      ending.abort()
      await ended
    },
  }
}

async function startScene(problems: string[], isSynchronous: boolean): Promise<Scene> {
  const primary = await startServer()
  await primary.createDatabase(DATABASE)
  const standby = await startStandby(primary, isSynchronous)
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
  return { primary, standby, way, writing, reading, load, problems }
}

type Hurt = (scene: Scene) => Promise<void>

async function underLoad(about: string, isSynchronous: boolean, hurt: Hurt): Promise<Outcome> {
  const problems: string[] = []
  const scene = await startScene(problems, isSynchronous)
  const { writing, reading, load } = scene
  const own = startOwnReads(scene)
  const following = startFollowing(scene)
  if (!(await acknowledged(load.ledger, 1000, HEALED_MS))) problems.push('too slow')
  await hurt(scene)
  if (!(await acknowledged(load.ledger, 500, HEALED_MS))) problems.push('writes did not heal')
  const before = own.counts.seen
  if (!(await comesTrue(HEALED_MS, () => own.counts.seen > before)))
    problems.push('own changes are not seen again')
  await load.stop()
  await own.stop()
  const isEqual = async () => (await statusOf(reading)).plants === (await statusOf(writing)).plants
  if (!(await comesTrue(HEALED_MS, isEqual))) problems.push('the replica lacks plants')
  const isWell = async () => (await healthOf(reading)) === 'ok'
  if (!(await comesTrue(HEALED_MS, isWell))) problems.push('health stays bad')
  await following.stop()
  for (const daemon of [reading, writing]) {
    if ((await daemon.stop()) !== 0) problems.push('a bad exit code after SIGTERM')
  }
  if (reading.events().some(({ event }) => event === 'unexpected')) problems.push('it logs a bug')
  const { seen, busy, away } = own.counts
  return {
    tried: about,
    many: `${count(seen, 'own change')} read, ${busy} not yet, ${away} away; ${count(following.changes(), 'change')} followed`,
    lost: 'none missed',
    problems,
  }
}

async function expectBehind({ reading, problems }: Scene): Promise<void> {
  const isBehind = async () => (await lagOf(reading)) > 10 && (await healthOf(reading)) === 'behind'
  if (!(await comesTrue(HEALED_MS, isBehind))) problems.push('it does not say that it is behind')
  if (!(await reading.fetch('/plants?limit=1')).ok) problems.push('it does not read meanwhile')
  const refused = await reading.create('{"id":1,"name":"x"}')
  if (refused.status !== 403) problems.push(`a write is answered with ${refused.status}`)
}

const fallBehind: Hurt = async (scene) => {
  await scene.standby.query('SELECT pg_wal_replay_pause()')
  await expectBehind(scene)
  await scene.standby.query('SELECT pg_wal_replay_resume()')
}

const promote: Hurt = async ({ primary, standby, reading, problems }) => {
  await failOver(primary, standby)
  await standby.query("ALTER SYSTEM SET synchronous_standby_names = ''")
  await standby.query('SELECT pg_reload_conf()')
  if (!(await comesTrue(HEALED_MS, async () => (await lagOf(reading)) === 0)))
    problems.push('it lags behind itself')
  if (reading.events().some(({ event }) => event === 'server-lost'))
    problems.push('it has lost the standby that was promoted')
}

/** First the standby loses its primary, then the daemon its standby. */
const cutOff: Hurt = async (scene) => {
  const { way, standby, reading, problems } = scene
  const [found] = await standby.query("SELECT current_setting('primary_conninfo') AS info")
  const followAt = async (info: string) => {
    await standby.query(`ALTER SYSTEM SET primary_conninfo = '${info.replaceAll("'", "''")}'`)
    await standby.query('SELECT pg_reload_conf()')
  }
  await followAt('host=127.0.0.1 port=1')
  await expectBehind(scene)
  await followAt(found.info)
  if (!(await comesTrue(HEALED_MS, async () => (await lagOf(reading)) < 5)))
    problems.push('it does not catch up')
  await standby.stop()
  way.cut()
  if (!(await comesTrue(HEALED_MS, async () => (await health(reading)) === 503)))
    problems.push('health does not say that it is cut off')
  const read = await reading.fetch('/plants/1')
  const error = read.ok ? 0 : ((await read.json()) as { error: number }).error
  if (error !== 50302) problems.push(`a read meanwhile is answered with ${error}`)
  await standby.start()
}

const replica = (name: string, about: string, hurt: Hurt, isSynchronous = false): Fault => ({
  name: `postgres-replica-${name}`,
  about,
  run: () => underLoad(about, isSynchronous, hurt),
})

export const postgresReplicaFaults: Fault[] = [
  replica('behind', 'the standby of a read-only daemon applies nothing for 10 s', fallBehind),
  replica('promoted', 'the standby of a read-only daemon is promoted', promote, true),
  replica('cut', 'a read-only daemon and its standby are cut off, one after the other', cutOff),
]
