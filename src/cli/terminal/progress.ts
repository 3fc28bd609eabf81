// A progress line on a terminal.

import type { Output } from '../command'
import { countOf } from '../count'

const DRAW_AFTER_MS = 1000
const DRAW_EVERY_MS = 200
const USUAL_COLUMNS = 80

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

/** Formats a count, such as `12 plants`; a rate has `/s` appended. */
export const inPlants = (count: number): string => countOf(Math.round(count), 'plant')
/** Formats bytes, such as `1.5 MB`. */
export const inMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

/** A line on a terminal, drawn after a second: the count, the rate, and the part and the time left, if the total is known. */
export function createProgress(output: Output, format: (count: number) => string) {
  const startedAt = performance.now()
  let drawAt = startedAt + DRAW_AFTER_MS
  return {
    /** `doneCount` of `total`, in the same unit; null if the total is unknown. */
    update(count: number, doneCount = 0, total: number | null = null): void {
      const now = performance.now()
      if (!output.isTTY || now < drawAt) return
      drawAt = now + DRAW_EVERY_MS
      const seconds = (now - startedAt) / 1000
      const part = total ? Math.min(doneCount / total, 1) : 0
      const facts = [format(count), `${format(count / seconds)}/s`]
      if (part > 0) {
        facts.unshift(`${Math.floor(part * 100)}%`)
        facts.push(`${clock((seconds / part) * (1 - part))} left`)
      }
      // The last column stays free: some terminals wrap a line that fills it. A terminal of unknown size has 0 columns.
      const columns = (process.stderr.columns || USUAL_COLUMNS) - 1
      output.write(`\r\x1b[K${facts.join('  ').slice(0, columns)}`)
    },
    end(): void {
      if (output.isTTY) output.write('\r\x1b[K')
    },
  }
}
