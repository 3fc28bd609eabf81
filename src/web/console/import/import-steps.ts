// The changes of an import, so that it can be undone.

import type { NewPlant } from '../../../client/client.ts'
import { hasSameTexts } from '../texts.ts'
import type { Act } from '../undo/acts.ts'
import { creationOf, type Step } from '../undo/step.ts'
import { withUnmappedTexts } from './compare.ts'
import type { ImportInput } from './detect-file.ts'

// As many as can be selected at once.
const MAX_STEPS = 100_000

type SentGroup = {
  readonly plants: readonly NewPlant[]
  readonly skipped: number
  readonly replaced: number
}

const isChange = ({ before, after }: Step): boolean =>
  !before || !after || !hasSameTexts(before, after)

/** Collects the steps of an import, group by group. */
export function createSteps({ columns, comparison }: Pick<ImportInput, 'columns' | 'comparison'>) {
  const steps: Step[] = []
  let undoBarrier: string | undefined

  function stepOf(after: NewPlant): Step {
    const before = comparison?.storedOf(after.id)
    return {
      id: after.id,
      before: before ?? null,
      after: withUnmappedTexts(after, before, columns),
    }
  }

  return {
    /** Adds the stored plants of a request. */
    add({ plants, skipped, replaced }: SentGroup): void {
      if (comparison === null && skipped + replaced > 0)
        undoBarrier ??= 'some of its plants were stored before'
      if (steps.length + plants.length > MAX_STEPS)
        undoBarrier ??= `it has more than ${MAX_STEPS.toLocaleString()} plants`
      if (undoBarrier !== undefined) return
      const isCreated = skipped + replaced === 0
      steps.push(...plants.map(isCreated ? creationOf : stepOf))
    },

    all: (): Omit<Act, 'what'> =>
      undoBarrier === undefined ? { steps: steps.filter(isChange) } : { steps: [], undoBarrier },
  }
}

export type Steps = ReturnType<typeof createSteps>
