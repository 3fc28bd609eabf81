// The changes of an import, so that it can be undone.

import type { NewPlant } from '../../../client/client.ts'
import { hasSameTexts } from '../texts.ts'
import { creationOf, type Step } from '../undo/step.ts'
import { completed } from './compare.ts'
import type { ImportInput } from './detect.ts'

// The same limit as for a selection.
const MAX_STEPS = 100_000

type StoredGroup = {
  readonly plants: readonly NewPlant[]
  readonly known: number
  readonly replaced: number
}

const isChange = ({ before, after }: Step): boolean =>
  !before || !after || !hasSameTexts(before, after)

/** Collects the steps of an import, group by group. */
export function createSteps({ columns, compared }: Pick<ImportInput, 'columns' | 'compared'>) {
  const steps: Step[] = []
  let lasting: string | undefined

  function stepOf(after: NewPlant): Step {
    const before = compared?.storedOf(after.id)
    return { id: after.id, before: before ?? null, after: completed(after, before, columns) }
  }

  return {
    /** Adds the plants of a request that are stored now. */
    add({ plants, known, replaced }: StoredGroup): void {
      if (compared === null && known + replaced > 0)
        lasting ??= 'some of its plants were stored before'
      if (steps.length + plants.length > MAX_STEPS)
        lasting ??= `it has more than ${MAX_STEPS.toLocaleString()} plants`
      if (lasting !== undefined) return
      const isCreated = known + replaced === 0
      steps.push(...plants.map(isCreated ? creationOf : stepOf))
    },

    all: () => ({
      steps: lasting === undefined ? steps.filter(isChange) : [],
      ...(lasting === undefined ? {} : { lasting }),
    }),
  }
}

export type Steps = ReturnType<typeof createSteps>
