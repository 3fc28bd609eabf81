// Polls the status of the service; only its health without a token.

import { signal } from '@preact/signals'
import type { Status } from '../../../client/client.ts'
import type { Session } from '../session.ts'

const PERIOD_MS = 2000
const PERIOD_SILENT_MS = 1000
const TIMEOUT_MS = 5000

type ServiceState =
  | { readonly state: 'unknown' | 'healthy' | 'silent' }
  | { readonly state: 'failing'; readonly message: string }

export const STATE_NAMES: Readonly<Record<ServiceState['state'], string>> = {
  unknown: 'Checking…',
  healthy: 'Healthy',
  failing: 'Cannot write',
  silent: 'No response',
}

/** `since`: the beginning of an outage, in milliseconds since 1970; null while healthy. */
export type Health = ServiceState & { readonly since: number | null }

/** `readAt`: milliseconds on a monotonic clock. */
export type ReadStatus = Status & { readonly readAt: number }

export type Monitor = ReturnType<typeof createMonitor>

/** Polls the service of a session until the page is closed. */
export function createMonitor(session: Session) {
  const health = signal<Health>({ state: 'unknown', since: null })
  const latest = signal<ReadStatus | null>(null)
  let wake = () => {}

  async function readHealth(): Promise<ServiceState> {
    try {
      const answer = await fetch(new URL('health', session.base), {
        signal: AbortSignal.timeout(TIMEOUT_MS),
        cache: 'no-store',
      })
      if (answer.ok) return { state: 'healthy' }
      const { message } = (await answer.json()) as { readonly message?: unknown }
      return typeof message === 'string' ? { state: 'failing', message } : { state: 'silent' }
    } catch {
      return { state: 'silent' }
    }
  }

  async function readState(): Promise<ServiceState> {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const status = await session.call((client) => client.readStatus({ signal }))
    // Without a token, or with one that is refused or over its rate limit.
    if (!status.ok) return status.error === 0 ? { state: 'silent' } : readHealth()
    latest.value = { ...status.value, readAt: performance.now() }
    const { problem } = status.value
    return problem ? { state: 'failing', message: problem.message } : { state: 'healthy' }
  }

  async function poll(): Promise<void> {
    const serviceState = await readState()
    const since = serviceState.state === 'healthy' ? null : (health.value.since ?? Date.now())
    health.value = { ...serviceState, since }
    session.isReachable.value = serviceState.state !== 'silent'
  }

  /** Polls while the page is visible. */
  async function watch(isHidden: () => boolean): Promise<never> {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>()
      // Set before the poll: pollNow() during it calls for another poll.
      wake = resolve
      if (!isHidden()) await poll()
      setTimeout(resolve, health.value.state === 'silent' ? PERIOD_SILENT_MS : PERIOD_MS)
      await promise
    }
  }

  /** Polls without waiting for the next period. */
  const pollNow = (): void => wake()

  return { health, latest, poll, watch, pollNow }
}
