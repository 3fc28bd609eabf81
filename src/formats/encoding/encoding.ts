// Bytes -> text. Files are UTF-8, with or without a byte order mark, UTF-16 as spreadsheets write it, or in the
// encoding that the user names.

import { OpenError } from '../../errors'
import { type Advice, COMMAND_ADVICE } from '../advice'
import { concat } from '../bytes'
import { createPageDecoder, type Decoder } from './code-pages'

/** Number of leading bytes that distinguish UTF-8 from UTF-16. */
const HEAD_BYTES = 4
/** The header of a file is hardly longer. */
const HEADER_BYTES = 4096
const CONTEXT_BYTES = 24
/** The length of the sample that the encoding is detected from. */
const SAMPLE_BYTES = 16_384

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

/** The byte order of UTF-16 by the first end of a line; null: there is none in UTF-16. */
function orderOfLineEnd(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  for (let index = 0; index + 1 < bytes.length; index += 2) {
    const [a, b] = [bytes[index], bytes[index + 1]]
    if (b === 0 && (a === LF || a === CR)) return 'utf-16le'
    if (a === 0 && (b === LF || b === CR)) return 'utf-16be'
  }
  return null
}

/**
 * The encoding by the first bytes. UTF-16 has a byte order mark, or begins with ASCII, of which every other byte is 0, or
 * has such an end of a line.
 */
export function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [a, b, c, d] = bytes
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0 && d === 0)) return 'utf-16le'
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0 && c === 0)) return 'utf-16be'
  return orderOfLineEnd(bytes.subarray(0, HEADER_BYTES)) ?? 'utf-8'
}

/** The number of line ends in a text: of Unix, Windows and old Macs. `previousByte`: the one before the text. */
function countLineEnds(bytes: Uint8Array, previousByte = 0): number {
  let count = previousByte === CR && bytes[0] === LF ? -1 : 0
  for (let index = bytes.indexOf(LF); index >= 0; index = bytes.indexOf(LF, index + 1)) count += 1
  for (let index = bytes.indexOf(CR); index >= 0; index = bytes.indexOf(CR, index + 1)) {
    if (bytes[index + 1] !== LF) count += 1
  }
  return count
}

/** The start of the line that an index is in. */
const startOfLine = (bytes: Uint8Array, index: number): number =>
  index === 0 ? 0 : Math.max(bytes.lastIndexOf(LF, index - 1), bytes.lastIndexOf(CR, index - 1)) + 1

/** The lines of a text. */
export function linesOf(bytes: Uint8Array): Uint8Array[] {
  const ends = [...bytes.keys()].filter((index) => bytes[index] === LF || bytes[index] === CR)
  return [...ends, bytes.length].map((end, index) =>
    bytes.subarray((ends[index - 1] ?? -1) + 1, end),
  )
}

const UTF8 = new TextEncoder()
export const BEYOND_ASCII = /\P{ASCII}/u

/** The index of the first byte that is not UTF-8: decoding replaces it. */
function findBadByte(bytes: Uint8Array): number {
  const replaced = UTF8.encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  return bytes.findIndex((byte, index) => byte !== replaced[index])
}

/** Parts of a text in an unknown encoding: from its first bad line on, and lines beyond ASCII before that one, in UTF-8. */
export type EncodingSample = { readonly sample: Uint8Array; readonly earlier: Uint8Array }

/** The error of a text that is not UTF-8. */
export class EncodingError extends OpenError implements EncodingSample {
  constructor(
    readonly line: number,
    readonly sample: Uint8Array,
    readonly earlier: Uint8Array,
    advice: Advice,
  ) {
    super(`not UTF-8 at line ${line}; ${advice.encoding(null)}`)
  }
}

/** An encoding; null: several are possible, or none. */
export type Detection = {
  readonly encoding: string | null
  /** How the first line reads. */
  readonly readings: readonly string[]
  /** True if other lines are UTF-8: no encoding is right. */
  readonly isMixed: boolean
}

/** The message for a text that is not UTF-8: the line, its readings, and the option for its encoding. */
export function explainEncoding(
  { line }: EncodingError,
  { encoding, readings, isMixed }: Detection,
  advice: Advice,
): string {
  if (isMixed) return `not UTF-8 at line ${line}, unlike other lines; save the file in one encoding`
  const reads = readings.length === 0 ? ';' : `: it reads ${readings.join(', ')};`
  return `not UTF-8 at line ${line}${reads} ${advice.encoding(encoding)}`
}

/** Collects the lines with bytes beyond ASCII, up to {@link SAMPLE_BYTES}. */
function createSample() {
  let sample: Uint8Array = new Uint8Array()
  // The beginning of a line.
  let rest: Uint8Array = new Uint8Array()

  function addLines(lines: Uint8Array): void {
    for (let index = 0; index < lines.length && sample.length < SAMPLE_BYTES; ) {
      const high = lines.subarray(index).findIndex((byte) => byte > 0x7f)
      if (high < 0) return
      const start = startOfLine(lines, index + high)
      let end = index + high
      while (end < lines.length && lines[end] !== LF && lines[end] !== CR) end++
      sample = concat([sample, lines.subarray(start, end + 1)])
      index = end + 1
    }
  }

  return {
    isFull: () => sample.length >= SAMPLE_BYTES,
    add(part: Uint8Array): void {
      const bytes = concat([rest, part])
      const end = bytes.length < SAMPLE_BYTES ? startOfLine(bytes, bytes.length) : bytes.length
      addLines(bytes.subarray(0, end))
      rest = bytes.slice(end)
    },
    end(): Uint8Array {
      addLines(rest)
      return sample.subarray(0, SAMPLE_BYTES)
    },
  }
}

/** Decodes the parts of a text. Throws an `OpenError` that names the line if it cannot. */
async function* decodeParts(
  parts: AsyncIterable<Uint8Array>,
  encoding: string,
  advice: Advice,
): AsyncGenerator<string> {
  const decoder = createDecoder(encoding, true)
  const earlier = createSample()
  let line = 1
  let tail: Uint8Array = new Uint8Array()

  function decode(part: Uint8Array, isLast: boolean): string {
    try {
      return decoder.decode(part, { stream: !isLast })
    } catch {
      if (encoding !== 'utf-8') {
        throw new OpenError(`not ${encoding}, at line ${line} or later; ${advice.encoding(null)}`)
      }
      const all = concat([tail, part])
      const bad = findBadByte(all)
      const badLine = line + countLineEnds(all.subarray(tail.length, bad), tail.at(-1))
      const start = startOfLine(all, bad)
      earlier.add(all.subarray(0, start))
      throw new EncodingError(badLine, all.slice(start), earlier.end(), advice)
    }
  }

  for await (const part of parts) {
    const text = decode(part, false)
    // The decoder drops a byte order mark.
    const isAscii = (part[0] ?? 0) < 0x80 && !BEYOND_ASCII.test(text)
    if (!isAscii && !earlier.isFull()) earlier.add(part)
    yield text
    line += countLineEnds(part, tail.at(-1))
    tail = afterFirstCharacter(
      concat([tail, part.slice(-2 * CONTEXT_BYTES)]).slice(-2 * CONTEXT_BYTES),
    )
  }
  decode(new Uint8Array(), true)
}

/** Bytes without the end of a character that began before them. */
function afterFirstCharacter(bytes: Uint8Array): Uint8Array {
  let index = 0
  while (index < 3 && ((bytes[index] ?? 0) & 0xc0) === 0x80) index++
  return bytes.subarray(index)
}

/** The same bytes; the first part has at least `minBytes`, enough to recognize a file. */
export async function* joinFirst(
  stream: AsyncIterable<Uint8Array>,
  minBytes = HEAD_BYTES,
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

/**
 * The text of a stream, without a byte order mark (RFC 8259, section 8.1). `encoding`: null to detect UTF-8 or UTF-16 by the
 * first bytes. Throws an `OpenError` that names the line if the text is in another encoding.
 */
export async function* decodeText(
  stream: AsyncIterable<Uint8Array>,
  encoding: string | null = null,
  advice: Advice = COMMAND_ADVICE,
): AsyncGenerator<string> {
  const parts = joinFirst(stream)
  const first = await parts.next()
  if (first.done) return
  yield* decodeParts(prepend(first.value, parts), encoding ?? encodingOf(first.value), advice)
}

/**
 * Reads a whole text, before any plant is stored. Throws an `OpenError` if it is not in its encoding: an
 * {@link EncodingError} with all lines beyond ASCII, up to a limit, if it should be UTF-8.
 */
export async function checkText(
  stream: AsyncIterable<Uint8Array>,
  encoding: string | null,
  advice: Advice,
): Promise<void> {
  const parts = stream[Symbol.asyncIterator]()
  // The end of the loop does not close it: the sample reads on.
  const open = { [Symbol.asyncIterator]: () => ({ next: () => parts.next() }) }
  try {
    for await (const _ of decodeText(open, encoding, advice));
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error
    const sample = createSample()
    sample.add(error.sample)
    for await (const part of open) {
      sample.add(part)
      if (sample.isFull()) break
    }
    throw new EncodingError(error.line, sample.end(), error.earlier, advice)
  } finally {
    await parts.return?.()
  }
}

/** A stream with one more item before it. */
export async function* prepend<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}
