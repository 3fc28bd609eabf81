// Polls the status of the service.

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

/** `since`: the beginning of an outage, in milliseconds since 1970. */
export type Health = ServiceState & { readonly since: number | null }

/** `readAt`: milliseconds on a monotonic clock. */
export type ReadStatus = Status & { readonly readAt: number }

export type Monitor = ReturnType<typeof createMonitor>

/** Polls the service of a session until the page is closed. */
export function createMonitor(session: Session) {
  const health = signal<Health>({ state: 'unknown', since: null })
  const latest = signal<ReadStatus | null>(null)
  let wake = () => {}

  async function readState(): Promise<ServiceState> {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const status = await session.call((client) => client.readStatus({ signal }))
    // Without a token, or with one that is refused or over its rate limit, nothing more is known.
    if (!status.ok) return { state: status.error === 0 ? 'silent' : 'unknown' }
    latest.value = { ...status.value, readAt: performance.now() }
    const { problem } = status.value
    return problem ? { state: 'failing', message: problem.message } : { state: 'healthy' }
  }

  async function poll(): Promise<void> {
    const serviceState = await readState()
    const { state } = serviceState
    const isOutage = state === 'failing' || state === 'silent'
    health.value = { ...serviceState, since: isOutage ? (health.value.since ?? Date.now()) : null }
    if (state !== 'unknown') session.isReachable.value = state !== 'silent'
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
