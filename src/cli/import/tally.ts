// Counts the results of an import's rows, and notes the rows that were not read.

import type { Entry } from '../../formats/row'
import { countOf } from '../count'
import type { RowResult } from './import-groups'

/** Maximum number of refused rows shown. */
export const REFUSED_SHOWN = 20

export type Tally = {
  readonly counts: Readonly<Record<'created' | 'skipped' | 'replaced' | 'refused', number>>
  /** The stored plants whose name is the empty text. */
  emptyNames(): number
  /** The rows read so far. */
  rows(): number
  /** The rows that were not read, and the reason; null if all were read. */
  unreadReason(): string | null
  /** Notes that rows were not read, and the reason; the first reason counts. */
  stop(why: string): void
  record(entry: Entry, result: RowResult): void
  /** Reports the number of refused rows not shown. */
  end(): void
}

/** Counts the results of rows, and reports the first refused ones; `onRefused` gets all of them. */
export function createTally(
  report: (line: string) => void,
  onRefused: (entry: Entry, problem: string, rowIndex: number) => void,
): Tally {
  const counts = { created: 0, skipped: 0, replaced: 0, refused: 0 }
  let rowCount = 0
  let emptyNames = 0
  let unreadReason: string | null = null
  return {
    counts,
    rows: () => rowCount,
    emptyNames: () => emptyNames,
    unreadReason: () => unreadReason,
    stop(why: string): void {
      unreadReason ??= why
    },
    record(entry: Entry, result: RowResult): void {
      if ('stop' in entry) {
        unreadReason ??= `from line ${entry.line} on: ${entry.stop}`
        return
      }
      if (typeof result === 'string') {
        counts[result] += 1
        if ('plant' in entry && entry.plant.name === '') emptyNames += 1
      } else {
        counts.refused += 1
        if (counts.refused <= REFUSED_SHOWN) report(`line ${entry.line}: ${result.problem}`)
        onRefused(entry, result.problem, rowCount)
      }
      rowCount += 1
    },
    end(): void {
      const more = counts.refused - REFUSED_SHOWN
      if (more > 0) report(`${more} more ${more === 1 ? 'row was' : 'rows were'} refused`)
    },
  }
}

/** The result in one line. `isDry`: a dry run; `notes`: further remarks. */
export function summarize(
  { counts, rows, emptyNames, unreadReason }: Tally,
  isDry: boolean,
  notes: readonly string[],
): string {
  const { created, skipped, replaced, refused } = counts
  const outcome = isDry
    ? `dry run; would create ${created}, skip ${skipped}, replace ${replaced}, refuse ${refused}`
    : `created ${created}, skipped ${skipped}, replaced ${replaced}, refused ${refused}`
  const rest = unreadReason()
  const empty = emptyNames()
  const all = [outcome, `${countOf(rows(), 'row')} read`, ...notes]
  if (empty > 0) all.push(`${empty} ${empty === 1 ? 'has' : 'have'} an empty name`)
  return `${[...all, ...(rest === null ? [] : [`not read: ${rest}`])].join('; ')}\n`
}
