// Polls the health of the daemon, and its metrics while there is a token.

import { signal } from '@preact/signals'
import { createP99, createRate, parseMetrics, type Sample } from './metrics-text.ts'
import type { Session } from './session.ts'

const PERIOD_MS = 2000
const PERIOD_SILENT_MS = 1000
const ANSWER_MS = 5000
// Metrics are five times as long as health: of every second look, to keep an idle tab below 60 kB a minute.
const METRICS_LOOKS = 2
// Two minutes.
const POINTS = 30
// p99 covers several periods, as a quiet store has few creates in each.
const P99_PERIODS = 5

type Found =
  | { readonly state: 'unknown' | 'healthy' | 'silent' }
  | { readonly state: 'failing'; readonly message: string }

/** `since`: when it was first seen not to be healthy, in milliseconds since 1970; null: it is. */
export type Health = Found & { readonly since: number | null }

export type Point = {
  readonly rate: number | null
  readonly p99: number | null
  /** Requests that failed since the point before. */
  readonly failed: number
}

export type Monitor = ReturnType<typeof createMonitor>

/** Polls the service of a session until the page is closed. */
export function createMonitor(session: Session) {
  const health = signal<Health>({ state: 'unknown', since: null })
  const latest = signal<Sample | null>(null)
  const points = signal<readonly Point[]>([])
  let samples: readonly Sample[] = []
  let looks = 0
  let wake = () => {}

  const get = (path: string, token?: string) =>
    fetch(new URL(path, session.base), {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MS),
      cache: 'no-store',
    })

  async function readHealth(): Promise<Found> {
    try {
      const answer = await get('health')
      if (answer.ok) return { state: 'healthy' }
      const { message } = await answer.json()
      return typeof message === 'string' ? { state: 'failing', message } : { state: 'silent' }
    } catch {
      return { state: 'silent' }
    }
  }

  function take(sample: Sample): void {
    // A restart resets the counters.
    if (samples.at(-1)?.startedAt !== sample.startedAt) samples = []
    const before = samples.at(-1)
    const base = samples.at(-P99_PERIODS) ?? samples[0]
    samples = [...samples.slice(-P99_PERIODS), sample]
    latest.value = sample
    if (!before) return
    const point = {
      rate: createRate(before, sample),
      p99: base ? createP99(base, sample) : null,
      failed: sample.failed - before.failed,
    }
    points.value = [...points.value, point].slice(-POINTS)
  }

  async function readMetrics(token: string): Promise<void> {
    try {
      const answer = await get('metrics', token)
      if (answer.ok) return take(parseMetrics(await answer.text(), performance.now()))
      const { error, message } = await answer.json()
      if (error === 40102 && token === session.token()) session.refuse(String(message))
    } catch {
      // The next health check reports it.
    }
  }

  async function look(): Promise<void> {
    const found = await readHealth()
    const since = found.state === 'healthy' ? null : (health.value.since ?? Date.now())
    health.value = { ...found, since }
    session.isReachable.value = health.value.state !== 'silent'
    const token = session.token()
    if (token === null || !session.isReachable.value) return
    if (looks % METRICS_LOOKS === 0) await readMetrics(token)
    looks += 1
  }

  async function watch(): Promise<never> {
    for (;;) {
      if (!document.hidden) await look()
      const pause = health.value.state === 'silent' ? PERIOD_SILENT_MS : PERIOD_MS
      const { promise, resolve } = Promise.withResolvers<void>()
      setTimeout(resolve, pause)
      wake = resolve
      await promise
    }
  }

  return { health, latest, points, watch, lookNow: () => wake() }
}
