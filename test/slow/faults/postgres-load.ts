// 64 clients that create plants by a daemon before a PostgreSQL server, while that is hurt.
import type { Daemon } from './daemon.ts'
import type { Report } from './fault.ts'
import { acknowledged, health, type Load, settle, startLoad, tally } from './load.ts'
import {
  DATABASE,
  expectLeft,
  expectNoLane,
  type Server,
  serveBefore,
  startServer,
  startStandby,
  urlOf,
} from './postgres-server.ts'
import { stopWell } from './verify.ts'

export const CLIENTS = 64
export const HEALED_MS = 15_000

export interface Scene {
  server: Server
  daemon: Daemon
  load: Load
  report: Report
}

/** Hurts the server, and heals it; resolves to the one that is left, if it is another. */
export type Hurt<On = Scene> = (scene: On) => Promise<Server | undefined>

export type Guarded = Scene & { standby: Server }

export const answered = (load: Load, error: number): number => load.errors.get(error) ?? 0

/** Notes errors that clients should not have been answered with. */
export function expectErrors({ load, report }: Scene, ...errors: number[]): void {
  const wrong = [...load.errors.keys()].filter((error) => !errors.includes(error))
  report.expect(wrong.length === 0, `answered with ${wrong.join(', ')}`)
}

export const heals = async ({ load, report }: Scene, more = 500): Promise<void> =>
  report.expect(await acknowledged(load.ledger, more, HEALED_MS), 'it did not heal')

export const expectHealth = ({ daemon, report }: Scene, status: number): Promise<void> =>
  report.expectSoon(
    HEALED_MS,
    async () => (await health(daemon)) === status,
    `health is never ${status}`,
  )

/** Hurts a server under load, heals it, and compares what is stored: nothing may be lost. */
export async function underLoad(
  hosts: readonly [Server, ...Server[]],
  hurt: Hurt,
  report: Report,
): Promise<void> {
  const [server] = hosts
  const daemon = await serveBefore(urlOf(hosts))
  const load = startLoad(daemon, { clients: CLIENTS })
  const { ledger } = load
  const scene: Scene = { server, daemon, load, report }
  report.expect(await acknowledged(ledger, 2000, HEALED_MS), 'too slow')
  // Not in step with the commits.
  await Bun.sleep(Math.random() * 500)

  const left = (await hurt(scene)) ?? server
  await heals(scene, 1000)
  await expectHealth(scene, 200)
  await load.stop()
  report.expect(tally(ledger).unknown === 0, 'requests without an answer')
  await settle(daemon, ledger)
  const lost = await daemon.metric('plantstore_acknowledged_commits_lost_total')
  report.expect(lost === 0, `it reports ${lost} lost commits`)
  const events = (name: string) => daemon.events().filter(({ event }) => event === name)
  const moves = events('server-moved').length
  report.expect(moves === (left === server ? 0 : 1), `it reports ${moves} failovers`)
  await stopWell(daemon, report)
  const bugs = events('unexpected')
  report.expect(bugs.length === 0, `it logs ${JSON.stringify(bugs[0])}`)
  await expectNoLane(left, report)
  await expectLeft(left, ledger, report)
}

export async function startEmpty(): Promise<Server> {
  const server = await startServer()
  await server.createDatabase(DATABASE)
  return server
}

/** A server and its standby. */
export async function startPair(isSynchronous: boolean): Promise<[Server, Server]> {
  const server = await startEmpty()
  return [server, await startStandby(server, isSynchronous)]
}
