// PgBouncer in transaction mode in front of a test's PostgreSQL server.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../tools/free-port'
import { PASSWORD, type PostgresServer } from '../../tools/postgres/server'
import { AS_NOBODY } from './commands'
import { root, temporaryFolder } from './daemon'
import { startProcess } from './process'

export const hasPgBouncer = (): boolean => Bun.which('pgbouncer') !== null

/** The section of the docs about PgBouncer. */
export const poolerDocs = (): string =>
  /^## PgBouncer$(.*?)^## /ms.exec(readFileSync(join(root, 'docs/failover.md'), 'utf8'))?.[1] ?? ''

/** The documented statements that prepare the role, for the user of tests. */
export const roleStatements = (): string[] =>
  poolerDocs()
    .split('\n')
    .filter((line) => line.startsWith('ALTER ROLE'))
    .map((line) => line.replace('plantstore', 'admin'))

/** Starts a pooler with few server connections, so that sessions share them. */
export async function startPgBouncer(server: PostgresServer, settings: readonly string[] = []) {
  const folder = temporaryFolder()
  const port = freePort()
  // The test and the pooler run as different users.
  chmodSync(folder.path, 0o755)
  writeFileSync(folder.file('users'), `"admin" "${PASSWORD}"\n`, { mode: 0o644 })
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${server.port}`,
    '[pgbouncer]',
    `listen_port=${port}`,
    'listen_addr=127.0.0.1',
    'unix_socket_dir=',
    'auth_type=scram-sha-256',
    `auth_file=${folder.file('users')}`,
    'pool_mode=transaction',
    'default_pool_size=3',
    ...settings,
  ]
  writeFileSync(folder.file('ini'), `${lines.join('\n')}\n`, { mode: 0o644 })
  const setUser = process.getuid?.() === 0 ? AS_NOBODY : []
  const child = startProcess([...setUser, '/usr/sbin/pgbouncer', folder.file('ini')])
  const isUp = () => child.err().includes('process up')
  if (!(await child.prints(isUp, 'the start'))) throw new Error(child.err())

  return {
    url: (database = 'postgres') => `postgres://admin:${PASSWORD}@127.0.0.1:${port}/${database}`,
    log: () => child.err(),
    async [Symbol.asyncDispose](): Promise<void> {
      await child.kill()
      folder[Symbol.dispose]()
    },
  }
}
