// Medians, ranges and trends.
export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}

export function median(values: number[]): number {
  return quantile(values, 0.5)
}

/** The least, the median and the most. */
export function range(values: number[]): [least: number, middle: number, most: number] {
  return [quantile(values, 0), median(values), quantile(values, 1)]
}

export function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

type Point = { x: number; y: number }

/** Slope of the least-squares line through three points or more, and its standard error. */
export function trend(points: Point[]): { slope: number; error: number } {
  const x = sum(points.map((p) => p.x)) / points.length
  const y = sum(points.map((p) => p.y)) / points.length
  const spread = sum(points.map((p) => (p.x - x) ** 2))
  const slope = sum(points.map((p) => (p.x - x) * (p.y - y))) / spread
  const rest = sum(points.map((p) => (p.y - y - slope * (p.x - x)) ** 2))
  return { slope, error: Math.sqrt(rest / (points.length - 2) / spread) }
}
