// The result of a request: a value or a failure.

import type { KnownError } from './types.ts'

/** What the service answered. */
export type Success<T> = {
  readonly ok: true
  readonly value: T
  /** The version of the plant, for `ifMatch`; only in answers that contain a stored plant. */
  readonly etag?: string
}

/** Why there is no value. */
export type Failure = {
  readonly ok: false
  /** An error number of plantstore: nothing was changed. 0: plantstore did not answer, so a change may have been made. */
  readonly error: KnownError | 0 | (number & {})
  /** The HTTP status; 0: there was no answer. */
  readonly status: number
  /** For people. */
  readonly message: string
  /** Seconds to wait before another attempt, if the answer says so. */
  readonly retryAfter?: number
  /** With error 0: what was thrown, or the reason of the signal. */
  readonly cause?: unknown
}

export type Result<T> = Success<T> | Failure

export type CallOptions = {
  /** Ends the call, even between attempts: the result is a failure with the error 0. */
  readonly signal?: AbortSignal | undefined
}

export type ChangeOptions = CallOptions & {
  /** The `etag` that the plant must still have: 41201 if it has changed since. `*`: any. */
  readonly ifMatch?: string | undefined
}

/** What a loop over plants throws. */
export class ClientError extends Error {
  override readonly name = 'ClientError'

  constructor(readonly failure: Failure) {
    super(failure.message, { cause: failure.cause })
  }
}
