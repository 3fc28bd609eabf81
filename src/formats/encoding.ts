// Files are UTF-8, with or without a byte order mark, or UTF-16, as spreadsheets write it.

import { OpenError } from '../errors'

const HEAD_BYTES = 4
const UTF8 = new TextEncoder()

// Of a text without the byte order mark that some editors put before it (RFC 8259, section 8.1).
const withoutMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

// UTF-16 has a byte order mark; or every other byte of the first characters, ASCII in both formats, is zero.
function encodingOf([a, b, c, d]: Uint8Array) {
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0 && d === 0)) return 'utf-16le'
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0 && c === 0)) return 'utf-16be'
  return 'utf-8'
}

/** Returns a function that decodes the next bytes, or the end, of a text. It throws an `OpenError` where it cannot. */
function createDecoder(encoding: ReturnType<typeof encodingOf>) {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let line = 1
  return (chunk?: Uint8Array): string => {
    try {
      const text = decoder.decode(chunk, { stream: chunk !== undefined })
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) line++
      return text
    } catch {
      const name = encoding.slice(0, 6).toUpperCase()
      throw new OpenError(`not ${name}, at line ${line} or later; convert with iconv`)
    }
  }
}

/** The same bytes without UTF-8's mark; the first part has enough of them to tell the encoding. */
async function* joinFirst(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array | null = new Uint8Array()
  for await (const chunk of stream) {
    if (head) head = concat([head, chunk])
    if (head && head.length < HEAD_BYTES) continue
    yield head ? withoutMark(head) : chunk
    head = null
  }
  if (head) yield withoutMark(head)
}

/** The bytes of a text as UTF-8, which is not checked. Throws an `OpenError` if they begin like UTF-16, and are not. */
export async function* toUtf8(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let decode: ReturnType<typeof createDecoder> | null | undefined
  for await (const chunk of joinFirst(stream)) {
    if (decode === undefined) {
      const encoding = encodingOf(chunk)
      decode = encoding === 'utf-8' ? null : createDecoder(encoding)
    }
    yield decode ? UTF8.encode(decode(chunk)) : chunk
  }
  decode?.()
}

/** The text of a stream, without a byte order mark. Throws an `OpenError` if it is neither UTF-8 nor UTF-16. */
export async function* decodeText(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decode = createDecoder('utf-8')
  for await (const chunk of toUtf8(stream)) yield decode(chunk)
  decode()
}
