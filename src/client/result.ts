// What a request comes to: a value or a failure.

import type { KnownError } from './types.ts'

/** What the service answered. */
export type Success<T> = {
  readonly ok: true
  readonly value: T
  /** The version of the plant, for `ifMatch`; of answers that hold a stored plant. */
  readonly etag?: string
}

/** Why there is no value. */
export type Failure = {
  readonly ok: false
  /** A number of plantstore's: nothing was changed. 0: no answer of plantstore came, so a change may have been made. */
  readonly error: KnownError | 0 | (number & {})
  /** The HTTP status; 0: there was no answer. */
  readonly status: number
  /** For people. */
  readonly message: string
  /** Seconds to wait before another try, if the answer says so. */
  readonly retryAfter?: number
  /** Of error 0: what was thrown, or the reason of the signal. */
  readonly cause?: unknown
}

export type Result<T> = Success<T> | Failure

export type CallOptions = {
  /** Ends the call, also while it waits for another try: the result is a failure with the error 0. */
  readonly signal?: AbortSignal | undefined
}

export type ChangeOptions = CallOptions & {
  /** The `etag` that the plant must still have: 41201 if it was changed since. `*`: any. */
  readonly ifMatch?: string | undefined
}

/** What a loop over plants throws. */
export class ClientError extends Error {
  override readonly name = 'ClientError'

  constructor(readonly failure: Failure) {
    super(failure.message, { cause: failure.cause })
  }
}
