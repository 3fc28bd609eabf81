// Parses --database: a file, or the URL of a PostgreSQL server.

import { UsageError } from '../errors'

/** Sources of a server's password if its URL has none; the file has precedence. */
export type DatabaseSecrets = {
  readonly databasePassword: string | null
  readonly databasePasswordFile: string | null
}

/** True if a database is a PostgreSQL server. */
export const isPostgresUrl = (database: string): boolean => /^postgres(ql)?:\/\//i.test(database)

// Other URLs, and libpq's keyword/value strings.
const LOOKALIKE =
  /^\s*(postgres(ql)?:|jdbc:|[a-z][a-z0-9+.-]*:\/\/|(host|hostaddr|port|dbname|user|password|passfile|service|sslmode|options|connect_timeout)\s*=)/i

/** The value of `--database`; null if empty. Throws a {@link UsageError} for a malformed server address. */
export function parseDatabase(text: string): string | null {
  if (isPostgresUrl(text) || !LOOKALIKE.test(text)) return text || null
  // The value is not shown, as it may contain a password.
  throw new UsageError(
    'the database looks like a server, but is not postgres://USER@HOST/NAME; prefix a file name with ./',
  )
}

/** A database for logs and messages: a path unchanged, a URL without its password, escaped or not. */
export function withoutPassword(database: string): string {
  if (!isPostgresUrl(database)) return database
  const start = database.indexOf('://') + 3
  const rest = database.slice(start)
  // An @ in the parameters belongs to a password only if the password begins before any other @.
  const isFirst = rest[rest.search(/[:@]/)] === ':'
  const place = isFirst ? rest : (rest.split('?')[0] ?? '')
  const colon = place.indexOf(':')
  const atSign = place.lastIndexOf('@')
  if (colon === -1 || atSign < colon) return database
  return database.slice(0, start) + rest.slice(0, colon) + rest.slice(atSign)
}

/** Throws a {@link UsageError} for a password on the command line, which every user of the machine can see. */
export function refusePasswords(argv: readonly string[]): void {
  for (const word of argv) {
    const url = word.replace(/^--[a-z-]+=/, '')
    if (!isPostgresUrl(url)) continue
    if (withoutPassword(url) === url && !/[?&]password=/i.test(url)) continue
    throw new UsageError(
      'every user of this machine can see a password in a command line; set PLANTSTORE_DATABASE_PASSWORD_FILE or PGPASSWORD, or PLANTSTORE_DATABASE to the whole URL',
    )
  }
}

/** The ways to back up a server's database. */
export const SERVER_BACKUPS = 'pg_dump, point-in-time recovery, or "plantstore export"'

/** The error of a command that does not work on a server. */
export const worksOnFiles = (name: string, alternative: string): UsageError =>
  new UsageError(`${name} works on a database file; for PostgreSQL use ${alternative}`)
