// Polls the health of the daemon, and its metrics while there is a token.

import { signal } from '@preact/signals'
import type { Session } from '../session.ts'
import { parseMetrics } from './metrics-text.ts'
import { Trends } from './trends.ts'

const PERIOD_MS = 2000
const PERIOD_SILENT_MS = 1000
const ANSWER_MS = 5000
// Metrics are five times as long as health: read every second time, an idle tab needs less than 60 kB a minute.
const POLLS_PER_METRICS = 2

type Found =
  | { readonly state: 'unknown' | 'healthy' | 'silent' }
  | { readonly state: 'failing'; readonly message: string }

/** `since`: the beginning of an outage, in milliseconds since 1970; null while healthy. */
export type Health = Found & { readonly since: number | null }

export type Monitor = ReturnType<typeof createMonitor>

/** Polls the service of a session until the page is closed. */
export function createMonitor(session: Session) {
  const health = signal<Health>({ state: 'unknown', since: null })
  const trends = new Trends()
  let polls = 0
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

  async function readMetrics(token: string): Promise<void> {
    try {
      const answer = await get('metrics', token)
      if (answer.ok) return trends.record(parseMetrics(await answer.text(), performance.now()))
      const { error, message } = await answer.json()
      if (error === 40102 && token === session.token()) session.refuse(String(message))
    } catch {
      // The next health check reports it.
    }
  }

  async function poll(): Promise<void> {
    const found = await readHealth()
    const since = found.state === 'healthy' ? null : (health.value.since ?? Date.now())
    health.value = { ...found, since }
    session.isReachable.value = health.value.state !== 'silent'
    const token = session.token()
    if (token === null || !session.isReachable.value) return
    if (polls % POLLS_PER_METRICS === 0) await readMetrics(token)
    polls += 1
  }

  async function watch(): Promise<never> {
    for (;;) {
      if (!document.hidden) await poll()
      const pause = health.value.state === 'silent' ? PERIOD_SILENT_MS : PERIOD_MS
      const { promise, resolve } = Promise.withResolvers<void>()
      setTimeout(resolve, pause)
      wake = resolve
      await promise
    }
  }

  /** Reads health and metrics without waiting for the next period. */
  function pollNow(): void {
    polls = 0
    wake()
  }

  return { health, latest: trends.latest, points: trends.points, watch, pollNow }
}
