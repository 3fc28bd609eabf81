// The first lines of a daemon: where it listens, and how to get in.

import { resolve } from 'node:path'
import { isWildcard, type LocalAddress } from '../address'
import type { Log } from '../log'
import type { Store } from '../store'
import { quote, showFirstToken } from './first-token'
import { invocation, surroundings } from './invocation'
import type { LogWriter } from './log-writer'

export type Started = {
  readonly version: string
  readonly at: LocalAddress
  readonly host: string
  /** A path or a URL, without its password. */
  readonly database: string
  /** Whether it serves the console at `/`. */
  readonly hasConsole: boolean
  /** Whether this start has created the database. */
  readonly isNew: boolean
  readonly passwordFile: string | null
  /** Whether the configuration has a token, so that the store needs none. */
  readonly hasToken: boolean
  /** Whether clients must be told to trust the certificate. */
  readonly needsTrust: boolean
}

/** Logs that the daemon listens, and prints how to use it. A store without tokens gets its first one. */
export async function announce(
  store: Store,
  started: Started,
  out: LogWriter,
  log: Log,
): Promise<void> {
  const { version, at, host, database, passwordFile } = started
  const place = at.unix === null ? { host } : { unix: at.unix }
  log('info', 'listening', { url: at.url, ...place, database, version })
  const interfaces = at.unix === null && isWildcard(host) ? ' (all interfaces)' : ''
  out.write(`plantstore ${version} listens on ${at.unix ?? at.url}${interfaces}\n`)
  // A browser opens no unix socket.
  if (started.hasConsole && at.unix === null) out.write(`console: ${at.url}/\n`)
  if (started.isNew) out.write(`created the database ${database}\n`)
  if (started.hasToken) return
  await showFirstToken(store, { ...at, needsTrust: started.needsTrust }, out, log)
  const secret =
    passwordFile === null ? '' : `PLANTSTORE_DATABASE_PASSWORD_FILE=${quote(resolve(passwordFile))}`
  const program = invocation(surroundings(), secret)
  const create = `${program} token create laptop --database ${quote(database)}`
  out.write(`to make another token: ${create}\n`)
}
