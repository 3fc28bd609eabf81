// Describes changes of plants.

import { countPlants } from '../counts.ts'
import { changedTexts, type Step } from './step.ts'

/** A step that was not carried out, and the reason. */
export type SkippedStep = { readonly step: Step; readonly why: string }

export const CHANGED_REASON = 'someone changed it'
export const GONE_REASON = 'someone deleted it'
export const TAKEN_REASON = 'the ID is taken'

const MAX_NAMED = 3

const plantsIn = (steps: readonly Step[]): string => {
  const [first, another] = steps
  return first && !another ? `plant ${first.id}` : countPlants(steps.length)
}

const textsIn = (steps: readonly Step[]): readonly string[] => [
  ...new Set(steps.flatMap(changedTexts)),
]

/** A change as the object of a sentence: `the deletion of 2 plants`. */
export function nameOf(steps: readonly Step[]): string {
  if (steps.every(({ before }) => before === null)) return `the creation of ${plantsIn(steps)}`
  if (steps.every(({ after }) => after === null)) return `the deletion of ${plantsIn(steps)}`
  const [text, other] = textsIn(steps)
  return `the ${text && !other ? text : 'change'} of ${plantsIn(steps)}`
}

/** The skipped plants by reason: `plants 3, 5, 8 and 7 more (someone changed it)`. */
function describeSkipped(skipped: readonly SkippedStep[]): string {
  const groups = [...Map.groupBy(skipped, ({ why }) => why)].map(([why, all]) => {
    const ids = all.slice(0, MAX_NAMED).map(({ step }) => step.id)
    const more = all.length - ids.length
    const names = `${ids.join(', ')}${more > 0 ? ` and ${more.toLocaleString()} more` : ''}`
    return `${all.length === 1 ? 'plant' : 'plants'} ${names} (${why})`
  })
  return groups.length === 0 ? '' : `; left out: ${groups.join(', ')}`
}

function describeSteps(steps: readonly Step[]): string {
  const [first] = steps
  const subject = plantsIn(steps)
  if (!first) return 'Nothing was changed'
  if (steps.every(({ before }) => before === null)) return `Created ${subject}`
  if (steps.every(({ after }) => after === null)) return `Deleted ${subject}`
  const texts = textsIn(steps)
  if (texts.length !== 1 || texts[0] !== 'tag') return `Changed ${subject}`
  const tag = first.after?.tag
  return tag === undefined ? `Removed the tag of ${subject}` : `Set the tag “${tag}” on ${subject}`
}

/** The sentence about a change, with the way to undo it. */
export const describeDone = (steps: readonly Step[], skipped: readonly SkippedStep[]): string =>
  `${describeSteps(steps)}${describeSkipped(skipped)}${steps.length > 0 ? '; Ctrl+Z undoes it' : ''}`

/** The sentence about a change that was undone or redone. */
export function describeRepeat(
  what: string,
  steps: readonly Step[],
  skipped: readonly SkippedStep[],
  isUndo: boolean,
): string {
  const rest = describeSkipped(skipped)
  if (steps.length === 0) return `Cannot ${isUndo ? 'undo' : 'redo'} ${what}${rest}`
  const way = isUndo ? 'Ctrl+Shift+Z does it again' : 'Ctrl+Z undoes it'
  return `${isUndo ? 'Undid' : 'Redid'} ${what}${rest}; ${way}`
}
