// The time to undo, for several actions at once. It can be paused.

import { signal } from '@preact/signals'

const UNDO_MS = 8000
const TICK_MS = 250

type Waiting = { readonly key: number; readonly leftMs: number }

export class Countdown<T extends Waiting> {
  /** The actions that can still be undone, in the order of their starts. */
  readonly waiting = signal<readonly T[]>([])
  /** True while someone is about to press Undo. */
  readonly isPaused = signal(false)
  #timer: number | undefined

  constructor(readonly onEnd: (it: T) => void) {}

  start(it: Omit<T, 'leftMs'>): void {
    this.waiting.value = [...this.waiting.value, { ...it, leftMs: UNDO_MS } as T]
    this.#timer ??= window.setInterval(() => this.#tick(), TICK_MS)
  }

  has(key: number): boolean {
    return this.waiting.value.some((it) => it.key === key)
  }

  /** Changes the actions that wait; null takes one out. */
  update(change: (it: T) => T | null): void {
    this.waiting.value = this.waiting.value.map(change).filter((it) => it !== null)
    // A pointer does not leave what is no longer shown.
    if (this.waiting.value.length === 0) this.isPaused.value = false
  }

  #tick(): void {
    if (this.isPaused.value) return
    const all = this.waiting.value.map((it) => ({ ...it, leftMs: it.leftMs - TICK_MS }))
    this.waiting.value = all.filter(({ leftMs }) => leftMs > 0)
    for (const it of all.filter(({ leftMs }) => leftMs <= 0)) this.onEnd(it)
    if (this.waiting.value.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
