// Counts in words: `1 plant`, `5,000 rows`.

const countOf = (count: number, noun: string): string =>
  `${count.toLocaleString()} ${count === 1 ? noun : `${noun}s`}`

export const countPlants = (count: number): string => countOf(count, 'plant')
export const countRows = (count: number): string => countOf(count, 'row')
