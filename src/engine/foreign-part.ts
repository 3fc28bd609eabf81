// What another program has added to a table, in the words of both engines.

/** A trigger, an index, a constraint or a rule that is not plantstore's, and may change or refuse writes. */
export const describeForeignPart = (kind: string, name: string, table: string): string =>
  `${kind} ${JSON.stringify(name)} on ${table} is not plantstore's; drop it`
