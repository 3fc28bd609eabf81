// How soon clients come back with their next change.

/** Measures the time from the answers to a batch until as many changes have come again. */
export class ReturnRate {
  #answered = 0
  #answeredAt = 0
  #returned = 0
  /** Milliseconds per change; 0 until something is known. */
  #pace = 0

  /** Notes that a batch of this many changes is answered. */
  answer(changes: number): void {
    if (this.#returned < this.#answered) this.#pace = Number.POSITIVE_INFINITY
    this.#answered = changes
    this.#answeredAt = performance.now()
    this.#returned = 0
  }

  /** Notes that a change has come. */
  arrive(): void {
    this.#returned += 1
    if (this.#returned !== this.#answered) return
    this.#pace = (performance.now() - this.#answeredAt) / this.#answered
  }

  /** Milliseconds in which this many changes are likely to come; infinite if after the last answers too few came. */
  timeFor(changes: number): number {
    return changes * this.#pace
  }
}
