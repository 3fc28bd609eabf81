// A number of things in words.

/** Counts things: `1 plant`, `2 plants`. */
export const countOf = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`
