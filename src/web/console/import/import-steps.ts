// The changes of an import, so that it can be undone.

import { applyUpdate, type RowUpdate } from '../../../formats/row-update.ts'
import { hasSameTexts } from '../texts.ts'
import type { Step } from '../undo/step.ts'
import type { UndoItem } from '../undo/undo-history.ts'
import type { Comparison } from './compare.ts'

// As many as can be selected at once.
const MAX_STEPS = 100_000

type SentGroup = {
  readonly updates: readonly RowUpdate[]
  readonly skipped: number
  readonly replaced: number
}

const isChange = ({ before, after }: Step): boolean =>
  !before || !after || !hasSameTexts(before, after)

/** Collects the steps of an import, group by group. */
export function createSteps(comparison: Comparison | null) {
  // A file may repeat an id.
  const steps = new Map<bigint, Step>()
  let undoBarrier: string | undefined

  return {
    /** Adds the stored rows of a request. */
    add({ updates, skipped, replaced }: SentGroup): void {
      if (comparison === null && skipped + replaced > 0)
        undoBarrier ??= 'some of its plants were stored before'
      if (steps.size + updates.length > MAX_STEPS)
        undoBarrier ??= `it has more than ${MAX_STEPS.toLocaleString()} plants`
      if (undoBarrier !== undefined) return
      const isCreated = skipped + replaced === 0
      for (const update of updates) {
        const { id } = update
        const earlier = steps.get(id)
        const stored = isCreated ? undefined : comparison?.storedOf(id)
        const before = earlier ? earlier.before : (stored ?? null)
        steps.set(id, { id, before, after: applyUpdate(update, earlier?.after ?? stored) })
      }
    },

    all: (): Omit<UndoItem, 'what'> =>
      undoBarrier === undefined
        ? { steps: [...steps.values()].filter(isChange) }
        : { steps: [], undoBarrier },
  }
}
