// Counts in words: `1 plant`, `5,000 rows`.

const countOf =
  (noun: string) =>
  (count: number): string =>
    `${count.toLocaleString()} ${count === 1 ? noun : `${noun}s`}`

export const countPlants = countOf('plant')
export const countRows = countOf('row')
export const countChanges = countOf('change')
export const countEdits = countOf('edit')
