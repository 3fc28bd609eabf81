// A progress line on a terminal.

import type { Output } from '../command'
import { countOf } from '../count'

const DRAW_EVERY_MS = 200
const MAX_BAR = 32
const MIN_BAR = 7
const USUAL_COLUMNS = 80
// The indexes of the facts in the order in which a short line omits them: rate, count, time left.
const OMITTED_FIRST = [2, 1, 3]

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

/** A line of at most `columns` characters: a bar, if there is room, and the facts that fit beside it. */
export function layOut(part: number | null, facts: readonly string[], columns: number): string {
  const visibleFacts = [...facts]
  const text = () => visibleFacts.filter(Boolean).join('  ')
  const bar = part === null ? 0 : MIN_BAR + 3
  for (const index of OMITTED_FIRST) if (text().length + bar > columns) visibleFacts[index] = ''
  const room = Math.min(columns - text().length - 1, MAX_BAR) - 2
  if (part === null || room < MIN_BAR) return text().slice(0, columns)
  return `[${'#'.repeat(Math.round(part * room)).padEnd(room, '.')}] ${text()}`
}

/** Formats a count, such as `12 plants`; a rate has `/s` appended. */
export const inPlants = (count: number): string => countOf(Math.round(count), 'plant')
export const inMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

/** A bar on a terminal, with rate and time left; nothing elsewhere. */
export function createProgress(output: Output, format: (count: number) => string) {
  const startedAt = performance.now()
  let drawnAt = Number.NEGATIVE_INFINITY

  function draw(count: number, part: number | null): void {
    const seconds = Math.max((performance.now() - startedAt) / 1000, 0.001)
    const percent = part === null ? '' : `${Math.floor(part * 100)}%`
    const timeLeft = part ? `${clock((seconds / part) * (1 - part))} left` : ''
    const facts = [percent, format(count), `${format(count / seconds)}/s`, timeLeft]
    // The last column stays free: some terminals wrap a line that fills it. A terminal of unknown size has 0 columns.
    const columns = (process.stderr.columns || USUAL_COLUMNS) - 1
    output.write(`\r\x1b[K${layOut(part, facts, columns)}`)
  }

  return {
    /** `doneCount` of `total`, in the same unit; null if the total is unknown. */
    update(count: number, doneCount = 0, total: number | null = null): void {
      if (!output.isTTY || performance.now() - drawnAt < DRAW_EVERY_MS) return
      drawnAt = performance.now()
      draw(count, total ? Math.min(doneCount / total, 1) : null)
    },
    end(): void {
      if (output.isTTY) output.write('\r\x1b[K')
    },
  }
}
