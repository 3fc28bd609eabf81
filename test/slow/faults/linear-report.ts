// Decides whether one order of all operations explains a history, and says in words why none does.
import type { Report } from './fault.ts'
import { idsOf, type Operation, show } from './history.ts'
import type { LinearLoad } from './linear-load.ts'
import { checkHistory, type Verdict } from './linearizable.ts'

const SHOWN_OPERATIONS = 16

/** The last operations of a plant that were called before the end of this one. */
function leadingTo(operation: Operation, operations: Operation[]): Operation[] {
  const ids = new Set(idsOf(operation.request))
  return operations
    .filter((it) => it !== operation && it.called < operation.ended)
    .filter(({ request }) => idsOf(request).some((id) => ids.has(id)))
    .sort((a, b) => a.ended - b.ended)
    .slice(-SHOWN_OPERATIONS)
}

/** Null for a history that is linearizable, else what is wrong with it, and the operations that led there. */
export function explainVerdict(verdict: Verdict, operations: Operation[]): string | null {
  if (verdict.is === 'linearizable') return null
  const { operation } = verdict
  if (verdict.is === 'undecided') {
    return `undecided: over ${verdict.states} states looked at before ${show(operation)}`
  }
  const states = verdict.possible
    .slice(0, 5)
    .map((state) => state.map((fields) => fields ?? 'absent').join(', '))
  return [
    `no order explains ${show(operation)}`,
    `before its end the store could only hold: ${states.join(' or ')}`,
    'what was asked of these plants before:',
    ...leadingTo(operation, operations).map(show),
  ].join('\n    ')
}

const ENOUGH_CHANGES = 1000
const ENOUGH_SWAPS = 50

/** True if so many changes were made that their answers say something. */
export const isEnough = (load: LinearLoad): boolean =>
  load.changes() >= ENOUGH_CHANGES && load.swaps() >= ENOUGH_SWAPS

/** Notes a problem unless an order explains what the clients were told. */
export function reportOn({ history, changes, swaps }: LinearLoad, report: Report): void {
  const { operations } = history
  report.expect(changes() >= ENOUGH_CHANGES, 'too few changes')
  report.expect(swaps() >= ENOUGH_SWAPS, 'too few changes with a condition')
  const explanation = explainVerdict(checkHistory(operations), operations)
  if (explanation !== null) report.note(explanation)
}
