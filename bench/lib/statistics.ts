// Sums, medians and ranges.
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** The least, the median and the most. */
export function range(values: readonly number[]): [least: number, middle: number, most: number] {
  return [quantile(values, 0), median(values), quantile(values, 1)]
}

export const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0)
