// The connection: the token, in memory and in the tab if that is asked for, and whether the service answers.

import { effect, signal } from '@preact/signals'
import { type Client, createClient, type Failure, type Result } from '../../client/client.ts'
import { keepToken, keptToken } from '../kept-token.ts'

const SIGNED_OUT: Failure = { ok: false, error: 40101, status: 401, message: 'not connected' }

export type Session = ReturnType<typeof createSession>

const SILENCE = 'plantstore does not answer; is it running?'
const RESUME_MS = 1000

const STOPPED: Failure = { ok: false, error: 0, status: 0, message: 'stopped' }

/** True if the service itself did not answer: it is down, or a proxy answered instead. */
const isSilence = ({ error, status }: Failure): boolean =>
  error === 0 && (status === 0 || status >= 500)

const isRefusal = ({ error }: Failure): boolean => error === 40101 || error === 40102

/** True if the page itself cancelled the call. */
export const isAborted = ({ cause }: Failure): boolean =>
  cause instanceof DOMException && cause.name === 'AbortError'

/** A session with the service at a URL. */
export function createSession(base: URL) {
  let token: string | null = null
  let client: Client | null = null
  // Counts connects and disconnects, so that an answer to an earlier token is ignored.
  let attempts = 0
  const isConnected = signal(false)
  /** True if a token was accepted, even if it no longer is: the page stays while another is entered. */
  const isKnown = signal(false)
  const isReachable = signal(true)
  const isReadOnly = signal(false)
  /** True if a change log was kept when the page connected. */
  const hasChangeLog = signal(false)
  /** True if the tab keeps the token, over a reload too. */
  const isKept = signal(keptToken(base) !== '')
  /** Why the service refused the token, in its own words. */
  const refusal = signal<string | null>(null)

  function refuse(message: string): void {
    token = null
    client = null
    keepToken(base, '')
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
    // What the browser says of it names no cause either.
    if (result.status === 0 && !isAborted(result)) return { ...result, message: SILENCE }
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
    const result = await candidate.readToken()
    if (attempt !== attempts) return
    if (!result.ok) {
      refusal.value = isSilence(result) ? SILENCE : result.message
      return
    }
    keepToken(base, isKept.value ? given : '')
    token = given
    client = candidate
    isReadOnly.value = result.value.scope === 'read'
    hasChangeLog.value = result.value.changeLog
    isReachable.value = true
    isKnown.value = true
    isConnected.value = true
  }

  /** Forgets the token. */
  function disconnect(): void {
    attempts += 1
    token = null
    client = null
    isKept.value = false
    keepToken(base, '')
    isConnected.value = false
    isKnown.value = false
    refusal.value = null
  }

  /** Connects with the token that the tab kept, as soon as the service answers. */
  async function resume(): Promise<void> {
    for (let given = keptToken(base); given !== ''; given = keptToken(base)) {
      await connect(given)
      if (isKnown.value) return
      if (refusal.value !== SILENCE) keepToken(base, '')
      else await new Promise((resolve) => setTimeout(resolve, RESUME_MS))
    }
  }

  return {
    base,
    isKept,
    resume,
    isConnected,
    isKnown,
    isReachable,
    isReadOnly,
    hasChangeLog,
    refusal,
    token: () => token,
    refuse,
    call,
    persist,
    connect,
    disconnect,
  }
}
