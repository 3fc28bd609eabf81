// The undo history of this session: each act is carried out at once, and undone by its inverse.

import { signal } from '@preact/signals'
import type { NewPlant, Plant } from '../../../client/client.ts'
import type { Announcer } from '../announcer.ts'
import type { PlantList } from '../list/plant-list.ts'
import { hasSameTexts } from '../texts.ts'
import type { Turns } from '../turns.ts'
import { describeDone, describeRepeat, GONE_REASON, nameOf, type SkippedStep } from './describe.ts'
import { executeSteps, showPending } from './execute-steps.ts'
import { inverseOf, type Step } from './step.ts'

// Beyond this many plants, the oldest acts are forgotten.
const MAX_STEPS = 200_000

/** A change of plants by the user, which can be undone. */
export type Act = {
  /** The object of a sentence: `the deletion of 2 plants`. */
  readonly what: string
  readonly steps: readonly Step[]
  /** The reason that it cannot be undone. */
  readonly undoBarrier?: string
}

export class Acts {
  readonly doneActs = signal<readonly Act[]>([])
  readonly undoneActs = signal<readonly Act[]>([])
  /** The progress of an act. */
  readonly progress = signal<{ readonly count: number; readonly of: number } | null>(null)

  /** The plants as the changes of this page leave them, until the change log repeats these; null: deleted. */
  readonly #echoes = new Map<bigint, readonly (NewPlant | null)[]>()

  constructor(
    readonly list: PlantList,
    readonly announcer: Announcer,
    readonly turns: Turns,
  ) {}

  /** Carries out an act; resolves to the skipped steps whose plants are still stored. */
  do(steps: readonly Step[]): Promise<readonly SkippedStep[]> {
    // Shown at once: if rows moved later, the next click might hit the wrong one.
    showPending(this.list, steps)
    return this.#take([], async (ended) => {
      const { doneSteps, skipped } = await this.#execute(steps, ended)
      if (ended.aborted) return []
      this.announcer.announce(describeDone(doneSteps, skipped))
      if (doneSteps.length > 0) this.record({ what: nameOf(doneSteps), steps: doneSteps })
      return skipped.filter(({ why }) => why !== GONE_REASON)
    })
  }

  /** Records an act that is already stored and announced. */
  record(act: Act): void {
    this.#push(act)
    if (act.undoBarrier === undefined) this.announcer.undoable.value = act.what
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
    void this.#take(undefined, (ended) => this.#repeat(this.doneActs, this.undoneActs, true, ended))

  readonly redo = (): void =>
    void this.#take(undefined, (ended) =>
      this.#repeat(this.undoneActs, this.doneActs, false, ended),
    )

  clear(): void {
    this.#echoes.clear()
    this.doneActs.value = []
    this.undoneActs.value = []
    this.announcer.undoable.value = null
    this.progress.value = null
  }

  async #repeat(
    from: typeof this.doneActs,
    to: typeof this.doneActs,
    isUndo: boolean,
    ended: AbortSignal,
  ): Promise<void> {
    const act = from.value.at(-1)
    if (!act) return this.announcer.announce(isUndo ? 'Nothing to undo' : 'Nothing to redo')
    from.value = from.value.slice(0, -1)
    if (act.undoBarrier !== undefined) {
      return this.announcer.announce(`Cannot undo ${act.what}: ${act.undoBarrier}`)
    }
    const steps = isUndo ? act.steps.map(inverseOf) : act.steps
    showPending(this.list, steps)
    const { doneSteps, skipped, isRefused } = await this.#execute(steps, ended)
    if (ended.aborted) return
    const appliedSteps = isUndo ? doneSteps.map(inverseOf) : doneSteps
    if (appliedSteps.length > 0) to.value = [...to.value, { ...act, steps: appliedSteps }]
    // Can be tried again.
    if (isRefused) {
      const retrySteps = skipped.map(({ step }) => (isUndo ? inverseOf(step) : step))
      from.value = [...from.value, { ...act, steps: retrySteps }]
    }
    this.announcer.announce(describeRepeat(act.what, doneSteps, skipped, isUndo))
    if (!isUndo && doneSteps.length > 0) this.announcer.undoable.value = act.what
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

  #push(act: Act): void {
    this.undoneActs.value = []
    let room = MAX_STEPS
    const all = [...this.doneActs.value, act].toReversed()
    const latestActs = all.filter(({ steps }, at) => {
      room -= steps.length
      return at === 0 || room >= 0
    })
    this.doneActs.value = latestActs.reverse()
  }

  /** Carries out an act in its turn; resolves to `nothing` if the session ends before. */
  #take<T>(nothing: T, act: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const { ended } = this.list.session
    return this.turns.take(async () => (ended.aborted ? nothing : act(ended)))
  }
}
