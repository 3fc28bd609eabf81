// Sends changes to a webhook receiver (https://www.standardwebhooks.com).

import packageJson from '../../package.json'
import type { Change, Failure, Result } from '../client/client'
import { retry, retryAfterOf } from '../client/send'
import { UsageError } from '../errors'
import { toJson } from '../plant/json'
import { safeMessage } from '../redaction'
import type { SendRequest } from './request'

const PATIENCE_SECONDS = 30
const PAUSES = { first: 1, longest: 3600 }
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

export type Receiver = {
  readonly url: URL
  /** Every key signs: a receiver with one of them can verify. */
  readonly keys: readonly Uint8Array[]
}

/** The keys of a file: one secret per line. */
export function parseSecrets(text: string): Uint8Array[] {
  const keys = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => Buffer.from(SECRET.exec(line)?.[1] ?? '', 'base64'))
  const areKeys = keys.every(({ length }) => length >= MIN_KEY_BYTES && length <= MAX_KEY_BYTES)
  if (keys.length > 0 && areKeys) return keys
  throw new UsageError(
    `a secret is "whsec_" and ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in base64`,
  )
}

/** A change as a signed request: the same for each attempt, except for its time. */
function signedRequest(keys: Receiver['keys'], change: Change, seconds: number) {
  const type = `plant.${change.action}`
  const body = JSON.stringify({ type, timestamp: change.at, data: toJson(change) })
  const signedText = `${change.cursor}.${seconds}.${body}`
  const signatures = keys.map(
    (key) => `v1,${new Bun.CryptoHasher('sha256', key).update(signedText).digest('base64')}`,
  )
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': `plantstore/${packageJson.version}`,
      'webhook-id': change.cursor,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatures.join(' '),
    },
  }
}

/** The answer of a receiver that wants no more of a change. */
type Outcome = 'accepted' | 'gone'

async function attempt(
  sendRequest: SendRequest,
  { url, keys }: Receiver,
  change: Change,
  signal: AbortSignal,
): Promise<Result<Outcome>> {
  const request = signedRequest(keys, change, Math.floor(Date.now() / 1000))
  const failure = { ok: false, error: 0 } as const
  try {
    const answer = await sendRequest(url, {
      ...request,
      method: 'POST',
      redirect: 'manual',
      signal,
      target: 'receiver',
      seconds: PATIENCE_SECONDS,
      isStream: true,
      decompress: false,
    })
    // The body is ignored, whatever its size.
    await answer.body?.cancel()
    const { status, headers } = answer
    if (status === 410) return { ok: true, value: 'gone' }
    if (status >= 200 && status < 300) return { ok: true, value: 'accepted' }
    const message = `${url.host} answered ${status}`
    return { ...failure, status, message, ...retryAfterOf(headers) }
  } catch (error) {
    return { ...failure, status: 0, message: safeMessage(error) }
  }
}

/** Sends a change until the receiver accepts it or returns 410 Gone. Resolves to undefined if aborted. */
export const deliver = (
  sendRequest: SendRequest,
  receiver: Receiver,
  change: Change,
  signal: AbortSignal,
  onFailure: (failure: Failure, seconds: number) => void,
): Promise<Outcome | undefined> => {
  const waiting = { tries: 0, pauses: PAUSES, isPassing: () => true, onFailure, signal }
  return retry(waiting, () => attempt(sendRequest, receiver, change, signal))
}
