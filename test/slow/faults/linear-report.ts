// Decides whether one order of all operations explains a history, and says in words why none does.
import type { Report } from './fault.ts'
import { idsOf, type Operation, show } from './history.ts'
import type { LinearLoad } from './linear-load.ts'
import { checkHistory, type Verdict } from './linearizable.ts'

const SHOWN_OPERATIONS = 16

/** Null for a history that is linearizable, else what is wrong with it, and the operations that led there. */
export function explainVerdict(verdict: Verdict, operations: Operation[]): string | null {
  if (verdict.is === 'linearizable') return null
  const { operation } = verdict
  const ids = new Set(idsOf(operation.request))
  const before = operations
    .filter((it) => it !== operation && it.called < operation.ended)
    .filter(({ request }) => idsOf(request).some((id) => ids.has(id)))
    .sort((a, b) => a.ended - b.ended)
    .slice(-SHOWN_OPERATIONS)
  const states =
    verdict.is === 'violated'
      ? `in no possible state: ${JSON.stringify(verdict.possible.slice(0, 5))}`
      : `undecided after ${verdict.states} states`
  return [`${show(operation)}, ${states}; before:`, ...before.map(show)].join('\n    ')
}

const ENOUGH_CHANGES = 1000
const ENOUGH_SWAPS = 50

/** True if so many changes were made that their answers say something. */
export const isEnough = (load: LinearLoad): boolean =>
  load.changes() >= ENOUGH_CHANGES && load.swaps() >= ENOUGH_SWAPS

/** Notes a problem unless some order explains the responses. */
export function reportOn({ history, changes, swaps }: LinearLoad, report: Report): void {
  const { operations } = history
  report.expect(changes() >= ENOUGH_CHANGES, 'too few changes')
  report.expect(swaps() >= ENOUGH_SWAPS, 'too few changes with a condition')
  const explanation = explainVerdict(checkHistory(operations), operations)
  if (explanation !== null) report.note(explanation)
}
