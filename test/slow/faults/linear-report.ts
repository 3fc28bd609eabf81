// Decides whether one order of all operations explains a history, and says in words why none does.
import { count, type Outcome } from './fault.ts'
import { idsOf, type Operation, show } from './history.ts'
import type { LinearLoad } from './linear-load.ts'
import { checkHistory, type Verdict } from './linearizable.ts'

const isRefused = ({ outcome }: Operation) => outcome.is === 'refused'
const duration = ({ calledMs, endedMs }: Operation) => endedMs - calledMs

/**
 * Those of a plant's operations that are likely to matter: the last that were answered, the slowest that were refused.
 */
function leadingTo(operation: Operation, operations: Operation[]): Operation[] {
  const ids = new Set(idsOf(operation.request))
  const earlier = operations
    .filter((it) => it !== operation && it.called < operation.ended)
    .filter(({ request }) => idsOf(request).some((id) => ids.has(id)))
    .sort((a, b) => a.ended - b.ended)
  const answered = earlier.filter((it) => !isRefused(it)).slice(-8)
  const refused = earlier.filter(isRefused).sort((a, b) => duration(b) - duration(a))
  return [...answered, ...refused.slice(0, 8)].sort((a, b) => a.ended - b.ended)
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

/** The outcome of a fault, of what the clients were told meanwhile. */
export function reportOn(about: string, load: LinearLoad, problems: string[]): Outcome {
  const { operations } = load.history
  const began = performance.now()
  const verdict = checkHistory(operations)
  const tookMs = Math.round(performance.now() - began)
  if (load.changes() < ENOUGH_CHANGES) problems.push('too few changes')
  if (load.swaps() < ENOUGH_SWAPS) problems.push('too few changes with a condition')
  const explanation = explainVerdict(verdict, operations)
  const unanswered = operations.filter(({ outcome }) => outcome.is === 'unknown').length
  const changes = `${count(load.changes(), 'change')}, ${load.refusals()} refused`
  return {
    tried: about,
    many: `${count(operations.length, 'operation')}, ${changes}, ${unanswered} unanswered`,
    lost: `${verdict.is} (decided in ${tookMs} ms)`,
    problems: explanation === null ? problems : [...problems, explanation],
  }
}
