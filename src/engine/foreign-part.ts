// Messages about parts and records of a database that other programs have changed, for both engines.

/** The message for a trigger, an index, a constraint or a rule that may change or refuse plantstore's writes. */
export const describeForeignPart = (kind: string, name: string, table: string): string =>
  `${kind} ${JSON.stringify(name)} on ${table} is not plantstore's; drop it`

/** The message for a column of another type, which changes what is stored. */
export const describeColumn = (column: string, actual: string, expected: string): string =>
  `column ${column} is ${actual}; expected ${expected}`

/** The messages for a wrong number of plants; `recount` and `renew`: the fixes of a wrong record, and of none or several. */
export function describeMiscount(
  recorded: number | null,
  stored: number,
  { recount, renew }: { readonly recount: string; readonly renew: string },
): string[] {
  if (recorded === null) return [renew]
  if (recorded === stored) return []
  return [
    `the recorded number of plants is ${recorded}, but ${stored} are stored; to correct it, run ${recount}`,
  ]
}
