/** Carries out changes one after the other, in the order in which the user made them. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  /** Resolves once all changes so far have ended. */
  get whenDone(): Promise<unknown> {
    return this.#last
  }

  take<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act)
    this.#last = turn.catch(() => {})
    return turn
  }

  /** Later changes no longer wait for those so far. */
  forget(): void {
    this.#last = Promise.resolve()
  }
}
