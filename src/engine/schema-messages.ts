// Messages about the schema and the records of a database, for both engines.

import { OpenError } from '../errors'

/** The message for a trigger, an index, a constraint or a rule that may change or refuse plantstore's writes. */
export const describeForeignPart = (kind: string, name: string, table: string): string =>
  `${kind} ${JSON.stringify(name)} on ${table} is not plantstore's; drop it`

/** The message for a column of another type, which changes what is stored. */
export const describeColumn = (column: string, actual: string, expected: string): string =>
  `column ${column} is ${actual}; expected ${expected}`

/** The messages for a wrong number of plants; `recorded`: null if there is not exactly one record. */
export function describeMiscount(
  recorded: number | null,
  stored: number,
  recount: string,
): string[] {
  if (recorded === null)
    return [
      'the number of plants is not recorded once; export the plants, and import them into a new database',
    ]
  if (recorded === stored) return []
  return [
    `the recorded number of plants is ${recorded}, but ${stored} are stored; to correct it, run ${recount}`,
  ]
}

// The last build that reads the schemas before 1.0.0.
const OLDER_BUILD = '1d95bd2cfb87'

/** The message for a schema of a later version than this program's. */
export const newerSchema = (database: string, version: number | string, current: number): string =>
  `${database} was written by a newer plantstore (schema ${version}; this one reads ${current}); upgrade`

/**
 * Throws an `OpenError` for a schema that is neither this program's nor one that it upgrades, the first of which is
 * 1.0.0's.
 */
export function requireKnownSchema(
  database: string,
  version: number,
  [first, current]: readonly [first: number, current: number],
): void {
  if (version > current) throw new OpenError(newerSchema(database, version, current))
  if (version >= first) return
  throw new OpenError(
    `${database} was written by a build before 1.0.0 (schema ${version}; this one reads ${current}); export it with the build of commit ${OLDER_BUILD}, and import that file`,
  )
}

/** The error for a schema that only a daemon upgrades: an older daemon may use it. */
export const olderSchema = (database: string, version: number, current: number): OpenError =>
  new OpenError(
    `${database} has an older schema (${version}; this one reads ${current}); start this plantstore on it once`,
  )
