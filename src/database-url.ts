// What --database names: a file, or a PostgreSQL server by its URL.

/** Whether a database is a PostgreSQL server. */
export const isPostgresUrl = (database: string): boolean => /^postgres(ql)?:\/\//i.test(database)

/** Whether the URL of a server has a password, which must not be in a command line. In doubt it has. */
export const hasPassword = (database: string): boolean =>
  isPostgresUrl(database) &&
  (/^[^:]+:\/\/[^@]*:[^@]*@/.test(database) || /[?&]password=/i.test(database))

/** Where the password of a database comes from, if its URL has none; a file wins. */
export type DatabaseSecrets = {
  readonly databasePassword: string | null
  readonly databasePasswordFile: string | null
}
