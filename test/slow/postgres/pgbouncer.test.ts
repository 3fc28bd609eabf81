import { expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from '../../../src/engine/postgres/connecting/connection'
import { startupOf } from '../../../src/engine/postgres/connecting/settings'
import { builtProgram, PATIENCE_MS, runProgram, startDaemon } from '../../harness/daemon'
import { describeServers } from '../../harness/own-server'
import { hasPgBouncer, startPgBouncer } from '../../harness/pgbouncer'
import { targetOf } from '../../harness/postgres-store'

setDefaultTimeout(PATIENCE_MS)

const SESSIONS = 8
const ROUNDS = 60

/** The settings of a session, but for the one that tells whether it is its own. */
const settings = Object.keys(
  startupOf(targetOf('postgres://u@localhost/n?search_path=garden')),
).filter((name) => name !== 'plantstore.session')

const open = (url: string) => connect(targetOf(url))

/** The reason of a failed connection. */
const refusal = (url: string): Promise<string> =>
  open(url).then(
    async (connection) => {
      await connection.close()
      return 'connected'
    },
    (error: Error) => error.message,
  )

describeServers(
  '%s behind PgBouncer in transaction mode',
  (started) => {
    test.each([
      [[]],
      [[`ignore_startup_parameters=${settings}`]],
      [[`ignore_startup_parameters=${settings},plantstore.session`]],
    ])('is refused without prepare=false: %j', async (lines) => {
      await using pooler = await startPgBouncer(await started(), lines)

      for (const query of ['', '?search_path=garden']) {
        expect(await refusal(pooler.url() + query)).toEndWith(
          ': connected through a pooler: add prepare=false to the URL',
        )
      }
      expect(await refusal(`${pooler.url()}?prepare=false`)).toBe('connected')
    })

    test('says that the pooler drops the schema of the URL, and takes that of the role', async () => {
      const server = await started()
      await using pooler = await startPgBouncer(server)
      const url = `${pooler.url()}?search_path=garden&prepare=false`

      expect(await refusal(url)).toContain(
        'because a pooler drops the one in the URL; run ALTER ROLE',
      )
      await server.query('ALTER ROLE admin SET search_path = garden')
      await using fresh = await startPgBouncer(server)
      expect(await refusal(url.replace(pooler.url(), fresh.url()))).toBe('connected')
      await server.query('ALTER ROLE admin RESET search_path')
    })

    test('sessions that share connections are each answered their own', async () => {
      const server = await started()
      await using pooler = await startPgBouncer(server)
      await server.query('CREATE TABLE seen (session int, round int)')
      const url = `${pooler.url()}?prepare=false`
      const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => open(url)))

      const wrong: unknown[] = []
      const rounds = sessions.map(async ({ sql }, session) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const [, , , [own], , [other]] = await Promise.all([
            sql`BEGIN`,
            sql`INSERT INTO seen VALUES (${session}, ${round})`,
            sql`SELECT count(*) FROM seen WHERE session = ${session}`,
            sql`SELECT ${session}::int AS session, ${round}::int AS round`,
            sql`COMMIT`,
            sql`SELECT ${round}::int AS round, ${session}::text AS session`,
          ])
          const isRight =
            own.session === session && own.round === round && other.session === `${session}`
          if (!isRight) wrong.push({ session, round, own, other })
        }
      })
      await Promise.all(rounds)
      const rows = await server.query('SELECT DISTINCT session, round FROM seen')
      for (const session of sessions) await session.close()

      expect(wrong).toEqual([])
      expect(rows).toHaveLength(SESSIONS * ROUNDS)
    })

    test('two daemons serve one store, and the commands read it', async () => {
      const server = await started()
      await using pooler = await startPgBouncer(server)
      await server.createDatabase('pooled')
      const env = { PLANTSTORE_DATABASE: `${pooler.url('pooled')}?prepare=false` }
      await using first = await startDaemon({ program: builtProgram(), env })
      await using second = await startDaemon({ program: builtProgram(), env })
      const daemons = [first, second]
      const ids = Array.from({ length: 400 }, (_, id) => id)

      const statuses = await Promise.all(
        ids.flatMap((id) =>
          daemons.map(async (daemon) => (await daemon.create(`{"id":${id},"name":"n"}`)).status),
        ),
      )
      const replaced = await Promise.all(
        ids.map(async (id) => {
          const init = { method: 'PUT', json: { name: `n${id}`, tag: 't' } }
          return (await (id % 2 ? first : second).fetch(`/plants/${id}`, init)).status
        }),
      )

      // Of each id one daemon has made the plant, and the other found it there.
      expect(statuses.filter((status) => status === 200)).toHaveLength(ids.length)
      expect(statuses.filter((status) => status === 409)).toHaveLength(ids.length)
      expect(replaced.filter((status) => status === 200)).toHaveLength(ids.length)
      const { out } = await runProgram(['export'], { program: builtProgram(), env })
      expect(out).toBe(ids.map((id) => `{"id":${id},"name":"n${id}","tag":"t"}\n`).join(''))
      const checked = await runProgram(['check'], { program: builtProgram(), env })
      expect(checked.out).toStartWith(`ok: ${ids.length} plants, `)
    })
  },
  { canRun: hasPgBouncer() },
)
