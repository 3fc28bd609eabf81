// The account of an import: the result of each row, and the rows that were not read.

import type { Entry } from '../../formats/row'
import { countOf } from '../count'
import type { Result } from './importing'

/** Maximum number of refused rows shown. */
export const REFUSED_SHOWN = 20

export type Tally = {
  readonly counts: Readonly<Record<'created' | 'skipped' | 'replaced' | 'refused', number>>
  /** The stored plants whose name is the empty text. */
  emptyNames(): number
  /** The rows read so far. */
  rows(): number
  /** The reason that rows were not read; null if all were. */
  notRead(): string | null
  /** Notes that rows were not read, and the reason; the first reason counts. */
  stop(why: string): void
  account(entry: Entry, result: Result): void
  /** Reports the number of refused rows not shown. */
  end(): void
}

/** Counts the results of rows, reports the first refused ones, and saves all of them to a file if there is one. */
export function createTally(
  report: (line: string) => void,
  keep: (entry: Entry, problem: string, place: number) => void,
): Tally {
  const counts = { created: 0, skipped: 0, replaced: 0, refused: 0 }
  let place = 0
  let emptyNames = 0
  let notRead: string | null = null
  return {
    counts,
    rows: () => place,
    emptyNames: () => emptyNames,
    notRead: () => notRead,
    stop(why: string): void {
      notRead ??= why
    },
    account(entry: Entry, result: Result): void {
      if ('stop' in entry) {
        notRead ??= `from line ${entry.line} on: ${entry.stop}`
        return
      }
      if (typeof result === 'string') {
        counts[result] += 1
        if ('plant' in entry && entry.plant.name === '') emptyNames += 1
      } else {
        counts.refused += 1
        if (counts.refused <= REFUSED_SHOWN) report(`line ${entry.line}: ${result.problem}`)
        keep(entry, result.problem, place)
      }
      place += 1
    },
    end(): void {
      const more = counts.refused - REFUSED_SHOWN
      if (more > 0) report(`${more} more ${more === 1 ? 'row was' : 'rows were'} refused`)
    },
  }
}

/** The result in one line. `isDry`: a dry run; `notes`: further remarks. */
export function summarize(
  { counts, rows, emptyNames, notRead }: Tally,
  isDry: boolean,
  notes: readonly string[],
): string {
  const { created, skipped, replaced, refused } = counts
  const outcome = isDry
    ? `dry run; would create ${created}, skip ${skipped}, replace ${replaced}, refuse ${refused}`
    : `created ${created}, skipped ${skipped}, replaced ${replaced}, refused ${refused}`
  const rest = notRead()
  const empty = emptyNames()
  const all = [outcome, `${countOf(rows(), 'row')} read`, ...notes]
  if (empty > 0) all.push(`${empty} ${empty === 1 ? 'has' : 'have'} an empty name`)
  return `${[...all, ...(rest === null ? [] : [`not read: ${rest}`])].join('; ')}\n`
}
