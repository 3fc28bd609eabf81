// The figures of the last two minutes, from the metrics of the daemon.

import { signal } from '@preact/signals'
import { createP99, createRate, type Sample } from './metrics-text.ts'

// Two minutes.
const MAX_POINTS = 30
// p99 covers several periods, as a quiet store has few creates in each.
const P99_PERIODS = 5

type Point = {
  readonly rate: number | null
  readonly p99: number | null
  /** The requests that failed since the point before. */
  readonly failed: number
}

export class Trends {
  readonly latest = signal<Sample | null>(null)
  readonly points = signal<readonly Point[]>([])
  #samples: readonly Sample[] = []

  record(sample: Sample): void {
    // A restart resets the counters.
    if (this.#samples.at(-1)?.startedAt !== sample.startedAt) this.#samples = []
    const before = this.#samples.at(-1)
    const base = this.#samples.at(-P99_PERIODS) ?? this.#samples[0]
    this.#samples = [...this.#samples.slice(-P99_PERIODS), sample]
    this.latest.value = sample
    if (!before) return
    const point = {
      rate: createRate(before, sample),
      p99: base ? createP99(base, sample) : null,
      failed: sample.failed - before.failed,
    }
    this.points.value = [...this.points.value, point].slice(-MAX_POINTS)
  }
}
