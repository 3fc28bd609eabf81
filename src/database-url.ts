// What --database names: a file, or a PostgreSQL server by its URL.

import { UsageError } from './errors'

/** Where the password of a server comes from if its URL has none; the file wins. */
export type DatabaseSecrets = {
  readonly databasePassword: string | null
  readonly databasePasswordFile: string | null
}

/** Whether a database is a PostgreSQL server. */
export const isPostgresUrl = (database: string): boolean => /^postgres(ql)?:\/\//i.test(database)

/** A database as logs and messages show it: a path as it is, a URL without its password, escaped or not. */
export function withoutPassword(database: string): string {
  if (!isPostgresUrl(database)) return database
  const start = database.indexOf('://') + 3
  const rest = database.slice(start)
  // An @ in the parameters belongs to a password only where that begins before any other @.
  const isFirst = rest[rest.search(/[:@]/)] === ':'
  const place = isFirst ? rest : (rest.split('?')[0] ?? '')
  const [colon, at] = [place.indexOf(':'), place.lastIndexOf('@')]
  if (colon === -1 || at < colon) return database
  return database.slice(0, start) + rest.slice(0, colon) + rest.slice(at)
}

/** Throws a {@link UsageError} if a command line has a password: every user of the machine can see it. */
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

/** How to back up a server's database. */
export const SERVER_BACKUPS = 'pg_dump, point-in-time recovery, or "plantstore export"'

/** Why what is named `name` does not work on a server. */
export const worksOnFiles = (name: string, instead: string): UsageError =>
  new UsageError(`${name} works on a database file; for PostgreSQL use ${instead}`)
