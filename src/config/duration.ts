// Durations of options, such as `90d`.

const DURATION = /^([1-9]\d{0,8})(s|m|h|d|w|y)$/
const MAX_MS = 1000 * 31_536_000_000
const MILLISECONDS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
}

/**
 * The milliseconds of a duration such as `90d`, `12h` or `1y` (365 days), of up to 1000 years; null for any other text.
 */
export function parseDuration(text: string): number | null {
  const [, count, unit = ''] = DURATION.exec(text) ?? []
  const duration = Number(count) * (MILLISECONDS[unit] ?? Number.NaN)
  return duration <= MAX_MS ? duration : null
}
