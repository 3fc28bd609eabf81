// Files must be UTF-8. Other encodings, such as those of spreadsheets, are refused with a way to convert them.

import { OpenError } from '../errors'
import { countFeeds } from './lines'

/** Bytes without the byte order mark that some editors put before a text (RFC 8259, section 8.1). */
export const withoutByteOrderMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

// It has a byte order mark; or every other byte of the first characters, ASCII in both formats, is zero.
const isUtf16 = ([a, b, c, d]: Uint8Array): boolean =>
  (a === 0xff && b === 0xfe) ||
  (a === 0xfe && b === 0xff) ||
  (a === 0 && b !== 0 && c === 0) ||
  (a !== 0 && b === 0 && d === 0)

/** The stream, unchanged. Throws an `OpenError` if it begins like UTF-16. */
export async function* refuseUtf16(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const chunk of stream) {
    if (isFirst && isUtf16(chunk)) {
      throw new OpenError('not UTF-8 but UTF-16; convert with: iconv -f UTF-16 -t UTF-8')
    }
    isFirst = false
    yield chunk
  }
}

/** The text of a stream, without a byte order mark. Throws an `OpenError` if it is not UTF-8. */
export async function* decodeUtf8(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let lines = 1
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw new OpenError(`not UTF-8, at line ${lines} or later; convert with iconv`)
    }
  }
  for await (const chunk of refuseUtf16(stream)) {
    yield decode(chunk)
    lines += countFeeds(chunk)
  }
  decode()
}
