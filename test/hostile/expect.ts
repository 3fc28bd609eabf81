import { expect } from 'bun:test'
import { catalogue as errors } from '../../src/errors'
import type { Answer, Connection } from '../harness/http'

const messages: ReadonlySet<string> = new Set(Object.values(errors))
// An echo shorter than this is a word that both may have by chance.
const ECHO = 24
const INNER_WORKINGS =
  /\bat .*:\d+|\.[jt]s\b|node_modules|SELECT |INSERT |DELETE FROM|SQLITE|UNIQUE|\/(tmp|home|root|src|usr)\/|Error:/

/** The longest piece of a request that a message has in it, if it is longer than chance. */
export function findEcho(message: string, sent: Uint8Array): string | null {
  if (messages.has(message)) return null
  const texts = [Buffer.from(sent).toString('latin1'), Buffer.from(sent).toString('utf8')]
  for (let at = 0; at + ECHO <= message.length; at++) {
    const piece = message.slice(at, at + ECHO)
    if (texts.some((text) => text.includes(piece))) return piece
  }
  return null
}

/** What is wrong with the body of a refusal, in words; null where it is exactly an Error that tells nothing. */
export function faultOfError(body: string, sent: Uint8Array): string | null {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return `no JSON: ${body.slice(0, 100)}`
  }
  if (typeof value !== 'object' || value === null) return 'no object'
  if (Object.keys(value).join() !== 'error,message') return 'other fields than error and message'
  const { error, message } = value as { error: unknown; message: unknown }
  if (typeof error !== 'number' || (error | 0) !== error) return 'error is no int32'
  if (typeof message !== 'string' || message === '') return 'message is no text'
  if (message.length > 2000) return 'the message is longer than anybody reads'
  const echo = findEcho(message, sent)
  if (echo !== null) return `the message echoes ${JSON.stringify(echo)}`
  if (INNER_WORKINGS.test(message)) return `the message tells of inner workings: ${message}`
  return null
}

/** What is wrong with the head of a refusal, in words; null where nothing is. */
export function faultOfHead({ status, headers }: Answer): string | null {
  if (headers['content-type'] !== 'application/json') return `sent as ${headers['content-type']}`
  if (headers['x-content-type-options'] !== 'nosniff') return 'may be sniffed'
  if (headers['cache-control'] !== 'no-store') return 'may be stored by caches'
  const challenge = headers['www-authenticate']
  if ((status === 401) !== (challenge !== undefined) && status !== 403) return 'no right challenge'
  if (challenge !== undefined && !challenge.startsWith('Bearer realm="plantstore"'))
    return challenge
  if ((status === 405) !== (headers.allow !== undefined)) return 'Allow is not where it belongs'
  return null
}

/** Expects a refusal with a number of the error table, and nothing that the client should not learn. */
export function expectRefusal(answer: Answer, error: number, sent: Uint8Array): void {
  const { status, body } = answer
  expect({ status, error: /"error":(\d+)/.exec(body)?.[1] ?? body }).toEqual({
    status: Math.floor(error / 100),
    error: String(error),
  })
  expect(faultOfError(body, sent)).toBeNull()
  expect(faultOfHead(answer)).toBeNull()
}

/** Expects that the daemon waits: it says nothing, and keeps the connection. */
export async function expectSilence(connection: Connection, milliseconds: number): Promise<void> {
  await Promise.race([connection.whenClosed(), Bun.sleep(milliseconds)])
  expect({ closed: connection.closed(), received: connection.received() }).toEqual({
    closed: false,
    received: '',
  })
}
