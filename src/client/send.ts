// Sends a request, repeats it if that is safe, and reads its answer.

import { ERRORS } from './contract.ts'
import { fieldsOf, parseJson } from './json.ts'
import {
  type ChangeOptions,
  ClientError,
  type Failure,
  type ReadOptions,
  type Result,
} from './result.ts'

/** The pauses between attempts, in seconds. */
export const PAUSES = { first: 0.25, longest: 30 }
/** Timeout of a stream; the service sends an event or a comment every 10 seconds. */
export const SILENT_MS = 45_000
const EVENTS = 'text/event-stream'
const CURSOR = 'plantstore-cursor'
// nginx and HAProxy make the tags of compressed answers weak; Apache, Caddy and lighttpd append the coding.
const CHANGED_BY_PROXY = /^(?:W\/)?"([\w-]{22})(?:-(?:gzip|br|zstd|deflate))?"$/
// Temporary refusals: nothing was stored.
const PASSING: readonly number[] = [ERRORS['too many requests'], ERRORS.busy]

/** Sends a request: the platform's `fetch`, or a replacement. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export type Sender = {
  readonly base: URL
  /** The headers of every request. */
  readonly headers: Headers
  readonly fetch: Fetch
  /** Maximum number of retries. */
  readonly retries: number
}

export type Call<T> = ReadOptions &
  ChangeOptions & {
    readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    /** Relative to the base, without a slash at its start. */
    readonly path: string
    readonly query?: string
    readonly body?: string
    /** Reads the body of a success; undefined if it is not an answer of plantstore. */
    readonly read: (body: unknown, status: number) => T | undefined
    /** True if it may be repeated after a missing answer. */
    readonly isRepeatable?: boolean
    /** The result of a repetition answered with 40901: an earlier attempt succeeded. */
    readonly earlierSuccess?: T | undefined
  }

/** Resolves to the result of a request. Rejects only for an invalid header or condition. */
export async function send<T>(sender: Sender, call: Call<T>): Promise<Result<T>> {
  let noAnswer: Failure | undefined
  for (let tries = 0; ; tries++) {
    const result = await attempt(sender, call)
    if (result.ok) return result
    if (
      noAnswer &&
      call.earlierSuccess !== undefined &&
      result.error === ERRORS['stored already']
    ) {
      const { requestId } = result
      return {
        ok: true,
        value: call.earlierSuccess,
        ...(requestId === undefined ? {} : { requestId }),
      }
    }
    if (isUnanswered(result)) noAnswer = result
    const seconds = pauseBefore(result, call, tries)
    if (seconds === undefined || tries >= sender.retries || call.signal?.aborted) {
      // A refusal of the last attempt says nothing about an earlier one, unless it concerns the plant itself.
      return noAnswer && call.earlierSuccess && result.status !== 409 ? noAnswer : result
    }
    await pause(seconds, call.signal)
  }
}

const isUnanswered = ({ error, status }: Failure): boolean =>
  error === 0 && (status === 0 || status >= 500)

// Undefined if the request must not be repeated.
function pauseBefore(
  failure: Failure,
  { method, isRepeatable }: Call<unknown>,
  tries: number,
): number | undefined {
  const { error, retryAfter = 0 } = failure
  const mayRepeat = method === 'GET' || isRepeatable
  const mayPass = PASSING.includes(error) || (mayRepeat && isUnanswered(failure))
  if (!mayPass || retryAfter > PAUSES.longest) return undefined
  return backOff(PAUSES, tries, retryAfter, Math.random())
}

/** Attempts without a limit, with growing pauses. */
export type Patience = {
  /** The attempts since the last success. */
  tries: number
  readonly pauses: typeof PAUSES
  /** True for a failure after which another attempt may succeed. */
  readonly isPassing: (failure: Failure) => boolean
  /** Called before each pause. */
  readonly onFailure?: (failure: Failure, seconds: number) => void
  readonly signal?: AbortSignal | undefined
}

/** Seconds before the next attempt: exponential back-off, and at least Retry-After. `random`: from 0 to 1. */
export function backOff(
  { first, longest }: typeof PAUSES,
  tries: number,
  retryAfter: number,
  random: number,
): number {
  const seconds = Math.min(first * 2 ** tries, longest)
  // Random, so that clients do not retry all at once.
  return Math.min(Math.max(seconds * (0.5 + random / 2), retryAfter), longest)
}

/** Pauses before the next attempt. */
export function rest(patience: Patience, failure?: Failure): Promise<void> {
  const seconds = backOff(patience.pauses, patience.tries, failure?.retryAfter ?? 0, Math.random())
  patience.tries += 1
  if (failure) patience.onFailure?.(failure, seconds)
  return pause(seconds, patience.signal)
}

/** Repeats a request until it succeeds. Resolves to undefined if aborted. Throws a {@link ClientError} if it cannot succeed. */
export async function retry<T>(
  patience: Patience,
  request: () => Promise<Result<T>>,
): Promise<T | undefined> {
  while (!patience.signal?.aborted) {
    const result = await request()
    if (result.ok) return result.value
    if (patience.signal?.aborted) break
    if (!patience.isPassing(result)) throw new ClientError(result)
    await rest(patience, result)
  }
  return undefined
}

/** Resolves after some seconds, or as soon as the signal is aborted. */
function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, seconds * 1000)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}

// Without a value, the change would be made unconditionally.
function setCondition(headers: Headers, name: string, value: string | undefined): void {
  if (!value) throw new TypeError(`no value for ${name}: the answer that was read had no ETag`)
  headers.set(name, value)
}

function headersOf<T>(sender: Sender, call: Call<T>): Headers {
  const headers = new Headers(sender.headers)
  if (call.body !== undefined) headers.set('content-type', 'application/json')
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value)
  if (call.cursor !== undefined) headers.set(CURSOR, call.cursor)
  if ('ifMatch' in call) setCondition(headers, 'If-Match', call.ifMatch)
  if ('ifNoneMatch' in call) setCondition(headers, 'If-None-Match', call.ifNoneMatch)
  return headers
}

/** The body of an answer that is still arriving. `end` ends it. */
export type EventStream = { readonly body: ReadableStream<Uint8Array>; readonly end: () => void }

/** Opens a stream of events. Resolves like {@link send}, after one attempt. */
export async function openEvents(
  sender: Sender,
  call: Omit<Call<never>, 'read'>,
): Promise<Result<EventStream>> {
  const ending = new AbortController()
  const end = () => {
    clearTimeout(silence)
    call.signal?.removeEventListener('abort', end)
    ending.abort()
  }
  const silence = setTimeout(end, SILENT_MS)
  call.signal?.addEventListener('abort', end)
  if (call.signal?.aborted) end()
  const headers = { ...call.headers, accept: EVENTS }
  const result = await attempt<EventStream>(
    sender,
    { ...call, headers, signal: ending.signal, read: () => undefined },
    (response) => {
      const { ok, body, headers } = response
      if (!ok || !body || !headers.get('content-type')?.startsWith(EVENTS)) return undefined
      clearTimeout(silence)
      return { body, end }
    },
  )
  if (!result.ok) end()
  return result
}

/** `take` reads the value of an answer whose body is not JSON. */
async function attempt<T>(
  sender: Sender,
  call: Call<T>,
  take?: (response: Response) => T | undefined,
): Promise<Result<T>> {
  const { method, path, query = '', body, signal } = call
  const url = new URL(path, sender.base)
  url.search = query
  const headers = headersOf(sender, call)
  try {
    signal?.throwIfAborted()
    const init = { method, headers, body: body ?? null, signal: signal ?? null }
    const response = await sender.fetch(url.href, init)
    const value = take?.(response)
    if (value !== undefined) return { ok: true, value }
    return readAnswer(response, await response.text(), call.read)
  } catch (cause) {
    const reason = signal?.aborted ? signal.reason : cause
    return { ok: false, error: 0, status: 0, message: explain(reason), cause: reason }
  }
}

function readAnswer<T>(
  { ok, status, headers }: Response,
  text: string,
  read: (body: unknown, status: number) => T | undefined,
): Result<T> {
  const body = parseBody(text)
  const requestId = textsOf({ requestId: headers.get('x-request-id') })
  if (ok || status === 304) {
    const value = read(body, status)
    // Each version of a plant has one etag, even if a proxy has compressed the answer.
    const etag = headers.get('etag')?.replace(CHANGED_BY_PROXY, '"$1"') ?? null
    const texts = textsOf({ etag, cursor: headers.get(CURSOR) })
    if (value !== undefined) return { ok: true, value, ...texts, ...requestId }
  }
  const { error, message } = fieldsOf(body)
  const failure = { ok: false, status, ...retryAfterOf(headers), ...requestId } as const
  return !ok && typeof error === 'number' && typeof message === 'string'
    ? { ...failure, error, message }
    : { ...failure, error: 0, message: `not an answer from plantstore, with status ${status}` }
}

/** The texts that are not null. */
const textsOf = <Name extends string>(texts: Readonly<Record<Name, string | null>>) =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== null)) as {
    [Each in Name]?: string
  }

// Undefined if the text is not JSON: an answer of a proxy, or empty, as with 204.
function parseBody(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

// Seconds or a date (RFC 9110, section 10.2.3).
export function retryAfterOf(headers: Headers): { retryAfter?: number } {
  const text = headers.get('retry-after') ?? ''
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isNaN(seconds) ? {} : { retryAfter: Math.max(0, seconds) }
}

// Errors of Node's fetch have the reason in their cause.
function explain(reason: unknown): string {
  if (!(reason instanceof Error)) return `no answer: ${reason}`
  const { message, cause } = reason
  const detail = cause instanceof Error && cause.message ? `: ${cause.message}` : ''
  return `no answer: ${message}${detail}`
}
