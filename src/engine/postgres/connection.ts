// A connection to the writable server among the hosts of a URL, with deadlines: none of Bun's drivers limits a query.

import { readFileSync } from 'node:fs'
import { SQL } from 'bun'
import { OpenError } from '../../errors'
import { deadlineError, explainConnecting, noConnection } from './errors'
import { checkSettings, startupOf } from './settings'
import { addressOf, type Host, isSocket, type PostgresTarget } from './url'

/** One session of a server. Once it is lost it stays lost: a query never moves to another session unseen. */
export interface Connection {
  /** Bun's SQL, of this one session: queries are pipelined, and BEGIN by hand holds for those behind it. */
  readonly sql: SQL
  /** The address of the server: `h1:5432`, or the path of a unix socket. */
  readonly host: string
  readonly isLost: boolean
  /**
   * Resolves as the query does. Where nothing asked on the connection is answered for so long, it drops the connection and
   * rejects: nobody knows then whether the query was done. The query is never cancelled: a cancelled wait for a standby would look like a commit that is on it.
   */
  within<T>(milliseconds: number, query: PromiseLike<T>): Promise<T>
  close(): Promise<void>
}

function readCa(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new OpenError(`cannot read sslrootcert ${path}: ${(error as Error).message}`)
  }
}

// Said in full each time, as Bun fills what is missing from PGSSLMODE, PGHOST and others, and
// NODE_TLS_REJECT_UNAUTHORIZED=0 would otherwise turn the check of certificates off.
function tlsOf({ sslmode, caFile }: PostgresTarget, host: Host) {
  if (sslmode === 'disable' || isSocket(host)) return 'disable'
  if (sslmode === 'require') return { rejectUnauthorized: false }
  return {
    rejectUnauthorized: true,
    ...(caFile === null ? {} : { ca: readCa(caFile) }),
    ...(sslmode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
  }
}

async function connectTo(host: Host, target: PostgresTarget): Promise<Connection> {
  let isLost = false
  const pool = new SQL({
    adapter: 'postgres',
    hostname: isSocket(host) ? 'localhost' : host.host,
    port: host.port,
    ...(isSocket(host) ? { path: addressOf(host) } : {}),
    username: target.user,
    password: target.readPassword(),
    database: target.database,
    tls: tlsOf(target, host),
    connection: startupOf(target),
    prepare: target.prepare,
    bigint: true,
    max: 1,
    onclose: () => {
      isLost = true
    },
  })

  async function close(): Promise<void> {
    isLost = true
    await pool.close({ timeout: 0 })
  }

  // Queries are answered in their order: those of a long queue wait for one another, which is no hang.
  let answeredAt = 0
  async function within<T>(milliseconds: number, query: PromiseLike<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    let timer: Timer | undefined
    const wait = (left: number) => {
      timer = setTimeout(() => {
        const more = answeredAt + milliseconds - performance.now()
        if (more > 0 && !isLost) return wait(more)
        reject(deadlineError(milliseconds))
        close().catch(() => {})
      }, left)
    }
    wait(milliseconds)
    try {
      return await Promise.race([query, promise])
    } finally {
      answeredAt = performance.now()
      clearTimeout(timer)
    }
  }

  try {
    // A pool would go on with a new session, where the old one is lost; a reserved session does not.
    const open = async () => {
      const sql = await pool.reserve()
      await checkSettings(sql, target)
      return sql
    }
    const sql = await within(target.connectMs, open())
    return {
      sql,
      host: addressOf(host),
      get isLost() {
        return isLost
      },
      within,
      close,
    }
  } catch (error) {
    close().catch(() => {})
    throw error
  }
}

/**
 * Connects to the first host of a target that can be written to and keeps what it confirms. Rejects with an `OpenError` that
 * says in one line what is wrong with each.
 */
export async function connect(target: PostgresTarget): Promise<Connection> {
  const failures: { host: Host; reason: string }[] = []
  for (const host of target.hosts) {
    try {
      return await connectTo(host, target)
    } catch (error) {
      failures.push({ host, reason: await explainConnecting(error, host, target) })
    }
  }
  throw noConnection(failures)
}
