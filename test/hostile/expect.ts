// The form of every refusal, whatever was sent.
import { expect } from 'bun:test'
import { ERRORS } from '../../src/request-errors'
import type { Answer, Connection } from '../harness/http'

const messages: ReadonlySet<string> = new Set(Object.values(ERRORS).map(({ message }) => message))
// A shorter match may be chance.
const ECHO = 24
const INNER_WORKINGS =
  /\bat .*:\d+|\.[jt]s\b|node_modules|SELECT |INSERT |DELETE FROM|SQLITE|UNIQUE|\/(tmp|home|root|src|usr)\/|Error:/

/** A piece of the request that the message repeats; null if there is none. */
function findEcho(message: string, sent: Uint8Array): string | null {
  if (messages.has(message)) return null
  const texts = [Buffer.from(sent).toString('latin1'), Buffer.from(sent).toString('utf8')]
  for (let at = 0; at + ECHO <= message.length; at++) {
    const piece = message.slice(at, at + ECHO)
    if (texts.some((text) => text.includes(piece))) return piece
  }
  return null
}

/** The fault of a refusal's body, in words; null if it is exactly an Error and reveals nothing. */
function faultOfError(body: string, sent: Uint8Array): string | null {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return `not JSON: ${body.slice(0, 100)}`
  }
  if (typeof value !== 'object' || value === null) return 'not an object'
  if (Object.keys(value).join() !== 'error,message') return 'other fields than error and message'
  const { error, message } = value as { error: unknown; message: unknown }
  if (typeof error !== 'number' || (error | 0) !== error) return 'error is not an int32'
  if (typeof message !== 'string' || message === '') return 'message is not a text'
  if (message.length > 2000) return 'the message is longer than 2000 characters'
  const echo = findEcho(message, sent)
  if (echo !== null) return `the message echoes ${JSON.stringify(echo)}`
  if (INNER_WORKINGS.test(message)) return `the message shows inner workings: ${message}`
  return null
}

/** The fault of a refusal's head, in words; null if there is none. */
function faultOfHead({ status, headers }: Answer): string | null {
  if (headers['content-type'] !== 'application/json') return `sent as ${headers['content-type']}`
  if (headers['x-content-type-options'] !== 'nosniff') return 'no X-Content-Type-Options: nosniff'
  if (headers['cache-control'] !== 'no-store') return 'no Cache-Control: no-store'
  const challenge = headers['www-authenticate']
  if ((status === 401) !== (challenge !== undefined) && status !== 403)
    return 'wrong WWW-Authenticate'
  if (challenge !== undefined && !challenge.startsWith('Bearer realm="plantstore"'))
    return challenge
  if ((status === 405) !== (headers.allow !== undefined))
    return 'Allow is missing, or not allowed here'
  return null
}

/** Expects a refusal with this error number that reveals nothing. */
export function expectRefusal(answer: Answer, error: number, sent: Uint8Array): void {
  const { status, body } = answer
  expect({ status, error: /"error":(\d+)/.exec(body)?.[1] ?? body }).toEqual({
    status: Math.floor(error / 100),
    error: String(error),
  })
  expect(faultOfError(body, sent)).toBeNull()
  expect(faultOfHead(answer)).toBeNull()
}

/** Expects that the daemon waits for more: no answer, and the connection stays open. */
export async function expectSilence(connection: Connection, milliseconds: number): Promise<void> {
  await Promise.race([connection.whenClosed(), Bun.sleep(milliseconds)])
  expect({ closed: connection.closed(), received: connection.received() }).toEqual({
    closed: false,
    received: '',
  })
}
