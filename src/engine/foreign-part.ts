// Names the parts that other programs have added to a table, for both engines.

/** The message for a trigger, an index, a constraint or a rule that may change or refuse plantstore's writes. */
export const describeForeignPart = (kind: string, name: string, table: string): string =>
  `${kind} ${JSON.stringify(name)} on ${table} is not plantstore's; drop it`
