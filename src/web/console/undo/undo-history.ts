// The undo history of this session: each change is carried out at once, and undone by its inverse.

import { signal } from '@preact/signals'
import type { NewPlant, Plant } from '../../../client/client.ts'
import type { Announcer } from '../announcer.ts'
import type { ChangeQueue } from '../change-queue.ts'
import type { PlantList } from '../list/plant-list.ts'
import { hasSameTexts } from '../texts.ts'
import { describeDone, describeRepeat, GONE_REASON, nameOf, type SkippedStep } from './describe.ts'
import { executeSteps, showPending } from './execute-steps.ts'
import { inverseOf, type Step } from './step.ts'

// Beyond this many plants, the oldest items are forgotten.
const MAX_STEPS = 200_000

/** A change of plants by the user, which can be undone. */
export type UndoItem = {
  /** The object of a sentence: `the deletion of 2 plants`. */
  readonly what: string
  readonly steps: readonly Step[]
  /** The reason that it cannot be undone. */
  readonly undoBarrier?: string
}

export class UndoHistory {
  readonly undoItems = signal<readonly UndoItem[]>([])
  readonly redoItems = signal<readonly UndoItem[]>([])
  /** The progress of a change. */
  readonly progress = signal<{ readonly count: number; readonly of: number } | null>(null)

  /** By id: the states in which changes of this page left the plant (null: deleted), until the change log reports them. */
  readonly #echoes = new Map<bigint, readonly (NewPlant | null)[]>()

  constructor(
    readonly list: PlantList,
    readonly announcer: Announcer,
    readonly queue: ChangeQueue,
  ) {}

  /** Carries out a change; resolves to the skipped steps whose plants are still stored. */
  do(steps: readonly Step[]): Promise<readonly SkippedStep[]> {
    // Shown at once: if rows moved later, the next click might hit the wrong one.
    showPending(this.list, steps)
    return this.#enqueue([], async (ended) => {
      const { doneSteps, skipped } = await this.#execute(steps, ended)
      if (ended.aborted) return []
      this.announcer.announce(describeDone(doneSteps, skipped))
      if (doneSteps.length > 0) this.record({ what: nameOf(doneSteps), steps: doneSteps })
      return skipped.filter(({ why }) => why !== GONE_REASON)
    })
  }

  /** Records a change that is already stored and announced. */
  record(item: UndoItem): void {
    this.#push(item)
    if (item.undoBarrier === undefined) this.announcer.undoable.value = item.what
  }

  /** Expects that the change log repeats steps of this page. */
  expect(steps: readonly Step[]): void {
    if (!this.list.isLive.value) return
    for (const { id, after } of steps)
      this.#echoes.set(id, [...(this.#echoes.get(id) ?? []), after])
  }

  /** True if a change in the change log is by this page: it and those before it are no longer expected. */
  takeEcho(id: bigint, after: Plant | null): boolean {
    const expected = this.#echoes.get(id) ?? []
    const at = expected.findIndex((plant) =>
      plant && after ? hasSameTexts(plant, after) : plant === after,
    )
    if (at < 0) return false
    if (at + 1 < expected.length) this.#echoes.set(id, expected.slice(at + 1))
    else this.#echoes.delete(id)
    return true
  }

  readonly undo = (): void =>
    void this.#enqueue(undefined, (ended) =>
      this.#repeat(this.undoItems, this.redoItems, true, ended),
    )

  readonly redo = (): void =>
    void this.#enqueue(undefined, (ended) =>
      this.#repeat(this.redoItems, this.undoItems, false, ended),
    )

  clear(): void {
    this.#echoes.clear()
    this.undoItems.value = []
    this.redoItems.value = []
    this.announcer.undoable.value = null
    this.progress.value = null
  }

  async #repeat(
    from: typeof this.undoItems,
    to: typeof this.undoItems,
    isUndo: boolean,
    ended: AbortSignal,
  ): Promise<void> {
    const item = from.value.at(-1)
    if (!item) return this.announcer.announce(isUndo ? 'Nothing to undo' : 'Nothing to redo')
    from.value = from.value.slice(0, -1)
    if (item.undoBarrier !== undefined) {
      return this.announcer.announce(`Cannot undo ${item.what}: ${item.undoBarrier}`)
    }
    const steps = isUndo ? item.steps.map(inverseOf) : item.steps
    showPending(this.list, steps)
    const { doneSteps, skipped, isRefused } = await this.#execute(steps, ended)
    if (ended.aborted) return
    const appliedSteps = isUndo ? doneSteps.map(inverseOf) : doneSteps
    if (appliedSteps.length > 0) to.value = [...to.value, { ...item, steps: appliedSteps }]
    // Can be tried again.
    if (isRefused) {
      const retrySteps = skipped.map(({ step }) => (isUndo ? inverseOf(step) : step))
      from.value = [...from.value, { ...item, steps: retrySteps }]
    }
    this.announcer.announce(describeRepeat(item.what, doneSteps, skipped, isUndo))
    if (!isUndo && doneSteps.length > 0) this.announcer.undoable.value = item.what
  }

  async #execute(steps: readonly Step[], ended: AbortSignal) {
    const doneSteps: Step[] = []
    const skipped: SkippedStep[] = []
    let isRefused = false
    this.progress.value = { count: 0, of: steps.length }
    this.expect(steps)
    for await (const outcome of executeSteps(this.list, steps)) {
      if (ended.aborted) break
      doneSteps.push(...outcome.doneSteps)
      skipped.push(...outcome.skippedSteps)
      isRefused ||= outcome.refusal !== undefined
      this.progress.value = { count: doneSteps.length + skipped.length, of: steps.length }
    }
    this.progress.value = null
    return { doneSteps, skipped, isRefused }
  }

  #push(item: UndoItem): void {
    this.redoItems.value = []
    let room = MAX_STEPS
    const all = [...this.undoItems.value, item].toReversed()
    const latestItems = all.filter(({ steps }, at) => {
      room -= steps.length
      return at === 0 || room >= 0
    })
    this.undoItems.value = latestItems.reverse()
  }

  /** Carries out a change in its turn; resolves to `nothing` if the session ends before. */
  #enqueue<T>(nothing: T, change: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const { ended } = this.list.session
    return this.queue.add(async () => (ended.aborted ? nothing : change(ended)))
  }
}
