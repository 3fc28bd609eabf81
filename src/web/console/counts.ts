/** Counts plants in words: `1 plant`, `5,000 plants`. */
export const countPlants = (count: number): string =>
  `${count.toLocaleString()} ${count === 1 ? 'plant' : 'plants'}`
