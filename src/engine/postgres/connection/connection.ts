// A connection to one host. Every query has a deadline, as Bun's SQL has none.

import { SQL } from 'bun'
import { readText } from '../../../files/input'
import { deadlineError, hidePassword } from './errors'
import { checkSettings, type Standing, startupOf } from './settings'
import { addressOf, type Host, isSocket, type PostgresTarget } from './url'

/** A connection that is silent for this long is lost. Longer than the server's time limit for a read. */
export const SILENT_MS = 5000

/** One session. Once lost, it stays lost: queries never move to another session. */
export interface Connection {
  /** Bun's SQL on this session: queries are pipelined, and BEGIN applies to those after it. */
  readonly sql: SQL
  readonly host: Host
  /** The state of the server when the session began. */
  readonly standing: Standing
  readonly isLost: boolean
  /**
   * Sends a query, and resolves as it does. If the server is silent for too long, closes the connection and rejects: the
   * query may or may not have been executed. It is never cancelled: PostgreSQL confirms a commit whose wait for a standby is
   * cancelled.
   */
  ask<T>(query: (sql: SQL) => PromiseLike<T>, milliseconds?: number): Promise<T>
  close(): Promise<void>
}

/** Sends a query, with a deadline. */
export type Ask = <T>(query: (sql: SQL) => PromiseLike<T>) => Promise<T>

const readPem = (parameter: string, path: string): string => readText(path, `${parameter} ${path}`)

// Always explicit: otherwise Bun reads PGSSLMODE, PGHOST and others, and NODE_TLS_REJECT_UNAUTHORIZED=0 disables the
// check of certificates.
function tlsOf({ sslmode, caFile, client }: PostgresTarget, host: Host) {
  if (sslmode === 'disable' || isSocket(host)) return 'disable'
  const clientCertificate = client && {
    cert: readPem('sslcert', client.certFile),
    key: readPem('sslkey', client.keyFile),
  }
  if (sslmode === 'require') return { rejectUnauthorized: false, ...clientCertificate }
  return {
    ...clientCertificate,
    rejectUnauthorized: true,
    ...(caFile === null ? {} : { ca: readPem('sslrootcert', caFile) }),
    ...(sslmode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
  }
}

/** Connects to one host. Rejects if its settings are unsafe. Once `stopSignal` is aborted, closes the connection. */
export async function connectTo(
  host: Host,
  target: PostgresTarget,
  stopSignal: AbortSignal | undefined,
): Promise<Connection> {
  let isLost = false
  const password = target.readPassword()
  const pool = new SQL({
    adapter: 'postgres',
    hostname: isSocket(host) ? 'localhost' : host.host,
    port: host.port,
    ...(isSocket(host) ? { path: addressOf(host) } : {}),
    username: target.user,
    password,
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

  const closeQuietly = () => void close().catch(() => {})
  stopSignal?.addEventListener('abort', closeQuietly)
  async function close(): Promise<void> {
    isLost = true
    stopSignal?.removeEventListener('abort', closeQuietly)
    await pool.close({ timeout: 0 })
  }

  // Queries are answered in order: one queued behind others is not stuck.
  let answeredAt = 0
  async function within<T>(query: PromiseLike<T>, milliseconds: number): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    let timer: Timer | undefined
    const wait = (remainingMs: number) => {
      timer = setTimeout(() => {
        const remaining = answeredAt + milliseconds - performance.now()
        if (remaining > 0 && !isLost) return wait(remaining)
        reject(deadlineError(milliseconds))
        closeQuietly()
      }, remainingMs)
    }
    wait(milliseconds)
    try {
      return await Promise.race([query, promise])
    } catch (error) {
      throw hidePassword(error, password)
    } finally {
      answeredAt = performance.now()
      clearTimeout(timer)
    }
  }

  try {
    // A pool replaces a lost session with a new one; a reserved session is never replaced.
    const open = async () => {
      const sql = await pool.reserve()
      return { sql, standing: await checkSettings(sql, target) }
    }
    const { sql, standing } = await within(open(), target.connectMs)
    return {
      sql,
      host,
      standing,
      get isLost() {
        return isLost
      },
      ask: (query, milliseconds = SILENT_MS) => within(query(sql), milliseconds),
      close,
    }
  } catch (error) {
    closeQuietly()
    throw error
  }
}
