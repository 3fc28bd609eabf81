/** Carries out changes one after the other, in the order in which the user made them. */
export class ChangeQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Resolves once all changes so far have ended. */
  get whenDone(): Promise<unknown> {
    return this.#last
  }

  add<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(change)
    this.#last = turn.catch(() => {})
    return turn
  }

  /** Later changes no longer wait for those so far. */
  forget(): void {
    this.#last = Promise.resolve()
  }
}
