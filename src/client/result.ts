// The result of a request: a value or a failure.

import type { KnownError } from './contract.ts'

/** A success of the service. */
export type Success<T> = {
  readonly ok: true
  readonly value: T
  /** The version of the plant, for `ifMatch`; only in answers about a stored plant. */
  readonly etag?: string
  /** The cursor of a change, for `cursor` of a read; only with a change log. */
  readonly cursor?: string
  /** The `X-Request-Id` of the answer, if it has one. */
  readonly requestId?: string
}

/** A failure of a request, and its reason. */
export type Failure = {
  readonly ok: false
  /** An error number of plantstore: nothing was changed. 0: there was no answer, so a change may have been made. */
  readonly error: KnownError | 0 | (number & {})
  /** The HTTP status; 0 without an answer. */
  readonly status: number
  /** A readable message. */
  readonly message: string
  /** Seconds to wait before another attempt, from the answer. */
  readonly retryAfter?: number
  /** The `X-Request-Id` of the answer, if it has one. */
  readonly requestId?: string
  /** With error 0: the error thrown, or the reason of the signal. */
  readonly cause?: unknown
}

export type Result<T> = Success<T> | Failure

export type CallOptions = {
  /** Ends the call, even between attempts: the result is a failure with the error 0. */
  readonly signal?: AbortSignal | undefined
  /** Sent with every request of the call; they replace the client's own of the same name. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The cursor of a change that a read must see: a replica waits for it for a second, or fails with 50301. */
  readonly cursor?: string | undefined
}

export type ReadOptions = CallOptions & {
  /** A known `etag`: the value is null if the plant still has it. If given, it must have a value. */
  readonly ifNoneMatch?: string | undefined
}

export type ChangeOptions = CallOptions & {
  /** The expected `etag` of the plant: 41201 if it has changed. `*` matches any. If given, it must have a value. */
  readonly ifMatch?: string | undefined
}

/** The error thrown by loops over plants. */
export class ClientError extends Error {
  override readonly name = 'ClientError'

  constructor(readonly failure: Failure) {
    super(failure.message, { cause: failure.cause })
  }
}
