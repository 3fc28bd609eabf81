// Sends changes to a webhook receiver (https://www.standardwebhooks.com).

import packageJson from '../../package.json'
import type { Change } from '../client/client'
import { backOff, pause, retryAfterOf } from '../client/send'
import { safeMessage, UsageError } from '../errors'
import { toJson } from '../plant/json'
import type { SendRequest } from './request'

const PATIENCE_SECONDS = 30
const PAUSE_SECONDS = { first: 1, longest: 3600 }
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
    `a secret is "whsec_" and ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in base64; see "plantstore forward --help"`,
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

/** The seconds before the next attempt, after this many. `random`: from 0 to 1. */
export const pauseAfter = (tries: number, retryAfter: number, random: number): number =>
  backOff(PAUSE_SECONDS, tries, retryAfter, random)

type Attempt = { readonly status: number; readonly retryAfter: number; readonly reason: string }

async function attempt(
  sendRequest: SendRequest,
  { url, keys }: Receiver,
  change: Change,
  signal: AbortSignal,
): Promise<Attempt> {
  const request = signedRequest(keys, change, Math.floor(Date.now() / 1000))
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
    const { retryAfter = 0 } = retryAfterOf(answer.headers)
    return { status: answer.status, retryAfter, reason: `${url.host} answered ${answer.status}` }
  } catch (error) {
    return { status: 0, retryAfter: 0, reason: safeMessage(error) }
  }
}

/** Sends a change until the receiver accepts it, answers 410 Gone, or the signal is aborted. */
export async function deliver(
  sendRequest: SendRequest,
  receiver: Receiver,
  change: Change,
  signal: AbortSignal,
  onFailure: (reason: string, seconds: number) => void,
): Promise<'accepted' | 'gone' | 'aborted'> {
  for (let tries = 0; !signal.aborted; tries++) {
    const { status, retryAfter, reason } = await attempt(sendRequest, receiver, change, signal)
    if (status >= 200 && status < 300) return 'accepted'
    if (status === 410) return 'gone'
    if (signal.aborted) break
    const seconds = pauseAfter(tries, retryAfter, Math.random())
    onFailure(reason, seconds)
    await pause(seconds, signal)
  }
  return 'aborted'
}
