// Who is connected: the token, which is in memory only, and whether the service answers.

import { effect, signal } from '@preact/signals'
import { type Client, createClient, type Failure, type Result } from '../../client/client.ts'

const SIGNED_OUT: Failure = { ok: false, error: 40101, status: 401, message: 'not connected' }

export type Session = ReturnType<typeof createSession>

const STOPPED: Failure = { ok: false, error: 0, status: 0, message: 'stopped' }

/** Whether there is no answer of the service's: it is restarting, or a proxy speaks for it. */
const isSilence = ({ error, status }: Failure): boolean =>
  error === 0 && (status === 0 || status >= 500)

const isRefusal = ({ error }: Failure): boolean => error === 40101 || error === 40102

/** Whether a call was given up by the page itself. */
export const isAborted = ({ cause }: Failure): boolean =>
  cause instanceof DOMException && cause.name === 'AbortError'

/** A session with the service below a URL. */
export function createSession(base: URL) {
  let token: string | null = null
  let client: Client | null = null
  // Counts the tokens that were given or forgotten: an answer to an older one is of no interest.
  let attempts = 0
  const isConnected = signal(false)
  /** Whether there was a token before: what is on the page stays while it is given again. */
  const isKnown = signal(false)
  const isReachable = signal(true)
  const isReadOnly = signal(false)
  /** Why the token is refused, in the service's words. */
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

  /** Resolves once there is a token and the service answers, or neither is waited for any more. */
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

  /** Calls the service, and notes what the answer says of the token and of the service. */
  async function call<T>(make: (client: Client) => Promise<Result<T>>): Promise<Result<T>> {
    const used = client
    if (!used) return SIGNED_OUT
    const result = await make(used)
    if (result.ok) return result
    note(result)
    if (isRefusal(result) && used === client) refuse(result.message)
    return result
  }

  /** As {@link call}, again after a silence and after a refused token: for what is repeated without harm. */
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

  /** Takes a token if the service does; else says why not. */
  async function connect(text: string): Promise<void> {
    const given = text.trim()
    const attempt = ++attempts
    refusal.value = null
    let candidate: Client
    try {
      candidate = createClient({ url: base, token: given })
    } catch {
      refusal.value = 'a token has letters, digits and -._~+/ only'
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
