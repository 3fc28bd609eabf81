// The connection to the service: the token, and calls that wait until the service answers. The tab keeps the token on request.

import { computed, effect, signal } from '@preact/signals'
import {
  type Client,
  ClientError,
  createClient,
  ERRORS,
  type Failure,
  type Result,
} from '../../client/client.ts'
import { keepToken, keptToken } from '../kept-token.ts'

const RESUME_MS = 1000
const RETRY_MS = 2000

/** The message while the service does not answer. */
const SILENCE = 'no answer from plantstore; check that it runs'

const SIGNED_OUT: Failure = {
  ok: false,
  error: ERRORS['no credentials'],
  status: 401,
  message: 'not connected',
}
const STOPPED: Failure = { ok: false, error: 0, status: 0, message: 'stopped' }

/** True if the service itself did not answer: it is down, or a proxy answered instead. */
const isSilence = ({ error, status }: Failure): boolean =>
  error === 0 && (status === 0 || status >= 500)

// The storage is full, fails or is busy.
const CANNOT_WRITE: readonly number[] = [503, 507]

const isRefusal = ({ error }: Failure): boolean =>
  error === ERRORS['no credentials'] || error === ERRORS['invalid token']

/** True if the page itself cancelled the call. */
const isAborted = ({ cause }: Failure): boolean =>
  cause instanceof DOMException && cause.name === 'AbortError'

/** A pasted token without `Bearer`, quotes and spaces around it. */
const tokenOf = (text: string): string =>
  text
    .trim()
    .replace(/^["'`]|["'`]$/g, '')
    .replace(/^Bearer\s+/i, '')
    .trim()

type Send<T> = (client: Client) => Promise<Result<T>>

/** The result of the last try. `isRepeated`: the answer to an earlier one may have been lost. */
type LastResult<T> = Result<T> & { readonly isRepeated: boolean }

export class Session {
  readonly isConnected = signal(false)
  /** True from the first accepted token until disconnect: the page stays while another token is entered. */
  readonly hasSession = signal(false)
  readonly isReachable = signal(true)
  /** The reason that nothing can be changed; null if there is none. */
  readonly readOnlyReason = signal<'token' | 'daemon' | null>(null)
  readonly isReadOnly = computed(() => this.readOnlyReason.value !== null)
  /** True if there is a change log, as far as the page knows. */
  readonly hasChangeLog = signal(false)
  /** True if the tab keeps the token, across reloads too. */
  readonly keepsToken = signal(false)
  /** The reason that the token was refused. */
  readonly refusal = signal<string | null>(null)
  #client: Client | null = null
  #ending = new AbortController()
  /** Counts connects and disconnects: an answer to an earlier token is ignored. */
  #attempts = 0

  constructor(readonly base: URL) {
    this.keepsToken.value = keptToken(base) !== ''
  }

  /** Aborted at the disconnect: what began before must not go on under another token. */
  get ended(): AbortSignal {
    return this.#ending.signal
  }

  /** Calls the service, and updates the session from the answer. `send` may throw a ClientError instead. */
  async call<T>(send: Send<T>): Promise<Result<T>> {
    const client = this.#client
    const { ended } = this
    if (!client) return SIGNED_OUT
    const result = await send(client).catch((error: unknown): Failure => {
      if (error instanceof ClientError) return error.failure
      throw error
    })
    if (ended.aborted) return SIGNED_OUT
    if (result.ok || isAborted(result)) return result
    if (isSilence(result)) this.isReachable.value = false
    if (result.error === ERRORS['read-only token']) this.readOnlyReason.value = 'token'
    if (result.error === ERRORS['read-only service']) this.readOnlyReason.value = 'daemon'
    if (result.error === ERRORS['no change log']) this.hasChangeLog.value = false
    // The browser's message names no cause.
    if (result.status === 0) return { ...result, message: SILENCE }
    if (isRefusal(result) && client === this.#client) {
      this.#forget()
      this.refusal.value = result.message
    }
    return result
  }

  /** Like {@link call}, but retries after no answer and after a refused token: for calls that are safe to repeat. */
  async persist<T>(send: Send<T>, signal?: AbortSignal): Promise<LastResult<T>> {
    const { ended } = this
    for (let isRepeated = false; ; isRepeated = true) {
      await this.#whenReady(signal)
      if (signal?.aborted) return { ...STOPPED, isRepeated }
      if (ended.aborted || !this.hasSession.value) return { ...SIGNED_OUT, isRepeated }
      const result = await this.call(send)
      if (result.ok || isAborted(result) || !(isSilence(result) || isRefusal(result)))
        return { ...result, isRepeated }
    }
  }

  /** Like {@link persist}, but also retries while the service cannot write. */
  async persistWrite<T>(send: Send<T>): Promise<LastResult<T>> {
    for (let isRepeated = false; ; isRepeated = true) {
      const result = await this.persist(send)
      if (result.ok || !CANNOT_WRITE.includes(result.status))
        return { ...result, isRepeated: isRepeated || result.isRepeated }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }

  /** Uses a token if the service accepts it; otherwise sets `refusal`. */
  async connect(text: string): Promise<void> {
    const token = tokenOf(text)
    const attempt = ++this.#attempts
    this.refusal.value = null
    let candidate: Client
    try {
      candidate = createClient({ url: this.base, token: token })
    } catch {
      this.refusal.value = 'a token has only letters, digits and -._~+/'
      return
    }
    const [result, status] = await Promise.all([candidate.readToken(), candidate.readStatus()])
    if (attempt !== this.#attempts) return
    if (!result.ok) {
      this.isReachable.value = !isSilence(result)
      this.refusal.value = isSilence(result) ? SILENCE : result.message
      return
    }
    keepToken(this.base, this.keepsToken.value ? token : '')
    this.#client = candidate
    const isDaemonReadOnly = status.ok && status.value.readOnly
    const tokenReason = result.value.scope === 'read' ? 'token' : null
    this.readOnlyReason.value = isDaemonReadOnly ? 'daemon' : tokenReason
    this.hasChangeLog.value = result.value.changeLog
    this.isReachable.value = true
    this.hasSession.value = true
    this.isConnected.value = true
  }

  /** Connects with the token that the tab kept, as soon as the service answers. */
  async resume(): Promise<void> {
    for (let token = keptToken(this.base); token !== ''; token = keptToken(this.base)) {
      await this.connect(token)
      if (this.hasSession.value) return
      if (this.isReachable.value) keepToken(this.base, '')
      else await new Promise((resolve) => setTimeout(resolve, RESUME_MS))
    }
  }

  /** Forgets the token. */
  disconnect(): void {
    this.#attempts += 1
    this.#ending.abort()
    this.#ending = new AbortController()
    this.keepsToken.value = false
    this.#forget()
    this.hasSession.value = false
    this.refusal.value = null
  }

  #forget(): void {
    this.#client = null
    keepToken(this.base, '')
    this.isConnected.value = false
  }

  /** Resolves once there is a token and the service answers, or when waiting is pointless: disconnected or aborted. */
  async #whenReady(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return
    const { promise, resolve } = Promise.withResolvers<unknown>()
    signal?.addEventListener('abort', resolve)
    const stop = effect(() => {
      const isReady = this.isConnected.value && this.isReachable.value
      if (!this.hasSession.value || isReady) resolve(null)
    })
    await promise
    stop()
    signal?.removeEventListener('abort', resolve)
  }
}
