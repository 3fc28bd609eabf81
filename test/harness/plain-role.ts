// Stores of a role without superuser rights, as in production.

import type { KeepChanges } from '../../src/change-log/change-log'
import { checkServer } from '../../src/engine/postgres/check'
import type { PostgresServer } from '../../tools/postgres/server'
import {
  atPort,
  errorOf,
  type Logged,
  nameOf,
  newDatabase,
  openAt,
  targetOf,
} from './postgres-store'

/** Makes a role without rights for a new database. `admin`: the URL of the superuser, `url`: that of the role. */
export async function makeRole(server: PostgresServer) {
  const admin = await newDatabase(server)
  const role = `plain_of_${nameOf(admin)}`
  const query = (statement: string) => server.query(statement.replaceAll('$role', role), admin)
  await query(`CREATE ROLE $role LOGIN PASSWORD 'secret'`)
  return { admin, role, url: admin.replace(/\/\/[^@]+@/, `//${role}:secret@`), query }
}

/** A store whose role has no superuser rights. */
export async function openPlain(
  server: PostgresServer,
  port = server.port,
  keep: KeepChanges = null,
) {
  const made = await makeRole(server)
  await made.query('GRANT CREATE ON SCHEMA public TO $role')
  const url = atPort(made.url, port)
  const events: Logged[] = []
  const store = await openAt(url, events, keep)
  await store.createPlant({ id: 1n, name: 'one' })
  return {
    ...made,
    store,
    events,
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
