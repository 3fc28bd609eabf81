// Bytes -> text. UTF-8, with or without a byte order mark, UTF-16 as spreadsheets write it, or in the
// encoding that the user names.

import { concat } from '../bytes'
import { Question } from '../question'
import { createPageDecoder, type Decoder } from './code-pages'

// The types of Bun name only some of the encodings that it knows.
type Encoding = ConstructorParameters<typeof TextDecoder>[0]
export const createDecoder = (encoding: string, fatal = false): Decoder =>
  createPageDecoder(encoding) ?? new TextDecoder(encoding as Encoding, { fatal })

/** True if an encoding has this name: a code page of DOS, or one of https://encoding.spec.whatwg.org/#names-and-labels. */
export function isEncoding(name: string): boolean {
  try {
    createDecoder(name)
    return true
  } catch {
    return false
  }
}

const LF = 10
const CR = 13

/** The byte order of UTF-16 by the first end of a line; null if none is in UTF-16. */
function orderOfLineEnd(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  for (let index = 0; index + 1 < bytes.length; index += 2) {
    const [a, b] = [bytes[index], bytes[index + 1]]
    if (b === 0 && (a === LF || a === CR)) return 'utf-16le'
    if (a === 0 && (b === LF || b === CR)) return 'utf-16be'
  }
  return null
}

/** The length of a beginning that has the header of nearly any file. */
export const HEAD_BYTES = 4096

/**
 * The encoding by the first bytes. UTF-16 has a byte order mark, or begins with ASCII, of which every other byte is 0, or
 * has such an end of a line.
 */
export function encodingOf(head: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [a, b, c, d] = head
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0 && d === 0)) return 'utf-16le'
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0 && c === 0)) return 'utf-16be'
  return orderOfLineEnd(head) ?? 'utf-8'
}

/** The number of line ends in a text: of Unix, Windows and old Macs. `previousByte`: the one before the text. */
function countLineEnds(bytes: Uint8Array, previousByte: number | undefined): number {
  let count = previousByte === CR && bytes[0] === LF ? -1 : 0
  for (let index = bytes.indexOf(LF); index >= 0; index = bytes.indexOf(LF, index + 1)) count += 1
  for (let index = bytes.indexOf(CR); index >= 0; index = bytes.indexOf(CR, index + 1)) {
    if (bytes[index + 1] !== LF) count += 1
  }
  return count
}

/**
 * The text of a stream, without a byte order mark (RFC 8259, section 8.1). Throws a {@link Question} if it is in another
 * encoding; its line is only that of the part with the bad byte.
 */
export async function* decodeText(
  stream: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncGenerator<string> {
  const decoder = createDecoder(encoding, true)
  let line = 1
  let lastByte: number | undefined
  const decode = (part: Uint8Array, stream: boolean): string => {
    try {
      return decoder.decode(part, { stream })
    } catch {
      throw new Question(`not ${encoding.toUpperCase()} at line ${line} or later`, {
        encoding: null,
      })
    }
  }
  for await (const part of stream) {
    yield decode(part, true)
    line += countLineEnds(part, lastByte)
    lastByte = part.at(-1)
  }
  decode(new Uint8Array(), false)
}

/** The length of the sample that the encoding is detected from. */
const SAMPLE_BYTES = 16_384

/** The lines of a text, with their numbers; one that is longer than a sample comes in pieces. */
async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<[number, Uint8Array]> {
  let line = 1
  let rest = new Uint8Array()
  for await (const part of stream) {
    const bytes = concat([rest, part])
    let start = 0
    for (const [index, byte] of bytes.entries()) {
      // After a CR, the next part may begin with a LF.
      const isCr = byte === CR && index + 1 < bytes.length && bytes[index + 1] !== LF
      if (byte !== LF && !isCr) continue
      yield [line, bytes.subarray(start, index + 1)]
      start = index + 1
      line += 1
    }
    if (bytes.length - start >= SAMPLE_BYTES) {
      yield [line, bytes.subarray(start)]
      start = bytes.length
    }
    rest = bytes.slice(start)
  }
  yield [line, rest]
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a line in UTF-8, or null if it is in another encoding. */
export function tryUtf8(line: Uint8Array): string | null {
  try {
    return UTF8.decode(line)
  } catch {
    return null
  }
}

/** Reads a text that is not UTF-8. `line`: the first one that is not; `lines`: those beyond ASCII, up to a limit. */
export async function sampleText(stream: AsyncIterable<Uint8Array>) {
  const lines: Uint8Array[] = []
  let length = 0
  let firstBad = 0
  for await (const [line, bytes] of readLines(stream)) {
    if (bytes.every((byte) => byte < 0x80)) continue
    if (length < SAMPLE_BYTES) lines.push(bytes.slice(0, SAMPLE_BYTES - length))
    length += bytes.length
    if (firstBad === 0 && tryUtf8(bytes) === null) firstBad = line
    if (firstBad > 0 && length >= SAMPLE_BYTES) break
  }
  return { line: firstBad, lines }
}

/** The same bytes; the first part has at least `minBytes`, unless the stream is shorter. */
export async function* joinFirst(
  stream: AsyncIterable<Uint8Array>,
  minBytes: number,
): AsyncGenerator<Uint8Array> {
  let head: Uint8Array[] | null = []
  let length = 0
  for await (const chunk of stream) {
    if (!head) {
      yield chunk
      continue
    }
    head.push(chunk)
    length += chunk.length
    if (length < minBytes) continue
    yield concat(head)
    head = null
  }
  if (head && length > 0) yield concat(head)
}

/** A stream with one more item before it. */
export async function* prepend<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}
