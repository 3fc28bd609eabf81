// The connection: the token, kept in memory only, and whether the service answers.

import { effect, signal } from '@preact/signals'
import { type Client, createClient, type Failure, type Result } from '../../client/client.ts'

const SIGNED_OUT: Failure = { ok: false, error: 40101, status: 401, message: 'not connected' }

export type Session = ReturnType<typeof createSession>

const STOPPED: Failure = { ok: false, error: 0, status: 0, message: 'stopped' }

/** Whether the service itself did not answer: it is down, or a proxy answered instead. */
const isSilence = ({ error, status }: Failure): boolean =>
  error === 0 && (status === 0 || status >= 500)

const isRefusal = ({ error }: Failure): boolean => error === 40101 || error === 40102

/** Whether the page itself cancelled the call. */
export const isAborted = ({ cause }: Failure): boolean =>
  cause instanceof DOMException && cause.name === 'AbortError'

/** A session with the service at a URL. */
export function createSession(base: URL) {
  let token: string | null = null
  let client: Client | null = null
  // Counts connects and disconnects, so that an answer to an earlier token is ignored.
  let attempts = 0
  const isConnected = signal(false)
  /** Whether a token was accepted, even if it no longer is: the page stays while another is entered. */
  const isKnown = signal(false)
  const isReachable = signal(true)
  const isReadOnly = signal(false)
  /** Why the service refused the token, in its own words. */
  const refusal = signal<string | null>(null)

  function refuse(message: string): void {
    token = null
    client = null
    isConnected.value = false
    refusal.value = message
  }

  function note(failure: Failure): void {
    if (isAborted(failure)) return
    if (isSilence(failure)) isReachable.value = false
    if (failure.error === 40301) isReadOnly.value = true
  }

  /** Resolves once there is a token and the service answers, or when waiting is pointless: disconnected or aborted. */
  async function ready(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return
    const { promise, resolve } = Promise.withResolvers<unknown>()
    signal?.addEventListener('abort', resolve)
    const stop = effect(() => {
      if (!isKnown.value || (isConnected.value && isReachable.value)) resolve(null)
    })
    await promise
    stop()
    signal?.removeEventListener('abort', resolve)
  }

  /** Calls the service, and updates the session from the answer. */
  async function call<T>(make: (client: Client) => Promise<Result<T>>): Promise<Result<T>> {
    const used = client
    if (!used) return SIGNED_OUT
    const result = await make(used)
    if (result.ok) return result
    note(result)
    if (isRefusal(result) && used === client) refuse(result.message)
    return result
  }

  /** Like {@link call}, but retries after no answer and after a refused token: for calls that are safe to repeat. */
  async function persist<T>(
    make: (client: Client) => Promise<Result<T>>,
    signal?: AbortSignal,
  ): Promise<Result<T>> {
    for (;;) {
      await ready(signal)
      if (signal?.aborted) return STOPPED
      if (!isKnown.value) return SIGNED_OUT
      const result = await call(make)
      if (result.ok || isAborted(result) || !(isSilence(result) || isRefusal(result))) return result
    }
  }

  /** Uses a token if the service accepts it; otherwise sets `refusal`. */
  async function connect(text: string): Promise<void> {
    const given = text.trim()
    const attempt = ++attempts
    refusal.value = null
    let candidate: Client
    try {
      candidate = createClient({ url: base, token: given })
    } catch {
      refusal.value = 'a token has only letters, digits and -._~+/'
      return
    }
    const result = await candidate.listPlants({ limit: 1 })
    if (attempt !== attempts) return
    if (!result.ok) {
      refusal.value = result.message
      return
    }
    token = given
    client = candidate
    isReadOnly.value = false
    isReachable.value = true
    isKnown.value = true
    isConnected.value = true
  }

  /** Forgets the token. */
  function disconnect(): void {
    attempts += 1
    token = null
    client = null
    isConnected.value = false
    isKnown.value = false
    refusal.value = null
  }

  return {
    base,
    isConnected,
    isKnown,
    isReachable,
    isReadOnly,
    refusal,
    token: () => token,
    refuse,
    call,
    persist,
    connect,
    disconnect,
  }
}
