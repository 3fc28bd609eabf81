// Stores of a role without superuser rights, as in production.

import type { KeepChanges } from '../../src/change-log/change-log'
import { checkServer } from '../../src/engine/postgres/check'
import type { PostgresServer } from '../../tools/postgres/server'
import { errorOf, type Logged, newDatabase, openAt, targetOf } from './postgres-store'

let roles = 0

/** A store whose role has no superuser rights. */
export async function openPlain(
  server: PostgresServer,
  port = server.port,
  keep: KeepChanges = null,
) {
  const admin = await newDatabase(server)
  const database = admin.slice(admin.lastIndexOf('/') + 1)
  roles += 1
  const role = `plain_${roles}`
  const query = (statement: string) => server.query(statement.replaceAll('$role', role), database)
  await query(`CREATE ROLE $role LOGIN PASSWORD 'secret'; GRANT CREATE ON SCHEMA public TO $role`)
  const url = `postgres://${role}:secret@127.0.0.1:${port}/${database}`
  const events: Logged[] = []
  const store = await openAt(url, events, keep)
  await store.createPlant({ id: 1n, name: 'one' })
  return {
    store,
    role,
    events,
    /** The URL of the database for the superuser. */
    admin,
    query,
    isHealthy: async () => (await errorOf(store.probe())) === null,
    /** The problems, or the reason that there is no check. */
    check: () =>
      checkServer(targetOf(url)).then(
        ({ problems }) => problems,
        (error: Error): readonly string[] => [error.message],
      ),
    [Symbol.asyncDispose]: () => store.close(),
  }
}
