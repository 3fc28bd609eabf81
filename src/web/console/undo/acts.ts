// The history of this session, for undo and redo: each act is carried out at once, and undone by its inverse.

import { signal } from '@preact/signals'
import type { PlantList } from '../list/plant-list.ts'
import type { Session } from '../session.ts'
import { carryOut, show } from './carry-out.ts'
import { describeAgain, describeDone, GONE_REASON, nameOf, type SkippedStep } from './describe.ts'
import { inverseOf, type Step } from './step.ts'

// Beyond this many plants, the oldest acts are forgotten.
const MAX_STEPS = 200_000

/** An action that was carried out. */
export type Act = {
  /** The object of a sentence: `the deletion of 2 plants`. */
  readonly what: string
  readonly steps: readonly Step[]
  /** The reason that it cannot be undone. */
  readonly lasting?: string
}

type Announcer = {
  readonly announce: (text: string) => void
  readonly sentence: { readonly value: string }
}

export class Acts {
  readonly doneActs = signal<readonly Act[]>([])
  readonly undoneActs = signal<readonly Act[]>([])
  /** The act that the latest sentence is about. */
  readonly noted = signal<{ readonly act: Act; readonly sentence: string } | null>(null)
  /** The progress of an act. */
  readonly running = signal<{ readonly count: number; readonly of: number } | null>(null)
  #last: Promise<unknown> = Promise.resolve()

  /** `settled`: resolves once all earlier edits are stored. */
  constructor(
    readonly session: Session,
    readonly list: PlantList,
    readonly announcer: Announcer,
    readonly settled: () => Promise<unknown>,
  ) {}

  /** Carries out an action at once; resolves to the plants that were left out and are still stored. */
  do(steps: readonly Step[]): Promise<readonly SkippedStep[]> {
    // At once: if rows moved later, the next click might hit the wrong one.
    show(this.list, steps)
    return this.#inTurn(async () => {
      const { done, skipped } = await this.#carryOut(steps)
      if (done.length > 0) this.#push({ what: nameOf(done), steps: done })
      this.#say(describeDone(done, skipped), done.length > 0)
      return skipped.filter(({ why }) => why !== GONE_REASON)
    })
  }

  /** Records an action that is already stored. */
  record(act: Act): void {
    this.#push(act)
    if (act.lasting === undefined) this.#note()
  }

  readonly undo = (): void =>
    void this.#inTurn(() => this.#again(this.doneActs, this.undoneActs, true))

  readonly redo = (): void =>
    void this.#inTurn(() => this.#again(this.undoneActs, this.doneActs, false))

  clear(): void {
    this.doneActs.value = []
    this.undoneActs.value = []
    this.noted.value = null
    this.running.value = null
  }

  async #again(
    from: typeof this.doneActs,
    to: typeof this.doneActs,
    isUndo: boolean,
  ): Promise<void> {
    const act = from.value.at(-1)
    if (!act) return this.#say(isUndo ? 'Nothing to undo' : 'Nothing to redo', false)
    from.value = from.value.slice(0, -1)
    if (act.lasting !== undefined) {
      return this.#say(`Cannot undo ${act.what}: ${act.lasting}`, false)
    }
    const steps = isUndo ? act.steps.map(inverseOf) : act.steps
    show(this.list, steps)
    const { done, skipped, isRefused } = await this.#carryOut(steps)
    const applied = isUndo ? done.map(inverseOf) : done
    if (applied.length > 0) to.value = [...to.value, { ...act, steps: applied }]
    // For another try.
    if (isRefused) {
      const retrySteps = skipped.map(({ step }) => (isUndo ? inverseOf(step) : step))
      from.value = [...from.value, { ...act, steps: retrySteps }]
    }
    this.#say(describeAgain(act.what, done, skipped, isUndo), !isUndo && done.length > 0)
  }

  async #carryOut(steps: readonly Step[]) {
    const done: Step[] = []
    const skipped: SkippedStep[] = []
    let isRefused = false
    this.running.value = { count: 0, of: steps.length }
    for await (const outcome of carryOut(this.session, this.list, steps)) {
      done.push(...outcome.done)
      skipped.push(...outcome.skipped)
      isRefused ||= outcome.refusal !== undefined
      this.running.value = { count: done.length + skipped.length, of: steps.length }
    }
    this.running.value = null
    return { done, skipped, isRefused }
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

  #say(sentence: string, isUndoable: boolean): void {
    if (!this.session.isKnown.value) return
    this.announcer.announce(sentence)
    if (isUndoable) this.#note()
  }

  #note(): void {
    const act = this.doneActs.value.at(-1)
    if (act) this.noted.value = { act, sentence: this.announcer.sentence.value }
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = Promise.all([this.#last, this.settled()]).then(act)
    this.#last = turn.catch(() => {})
    return turn
  }
}
