// Bytes -> text. Files are UTF-8, with or without a byte order mark, UTF-16 as spreadsheets write it, or in an encoding that
// somebody names.

import { OpenError } from '../errors'
import { concat } from './bytes'
import { showText } from './row'
import { optionWords, type Words } from './words'

/** Number of leading bytes that distinguish UTF-8 from UTF-16. */
const HEAD_BYTES = 4
const CONTEXT_BYTES = 24
/** Length of the text that the encoding is detected from. */
const SCORED_BYTES = 65_536
// Those of Excel for Windows and for the Mac, where UTF-8 was not chosen.
const USUAL = ['windows-1252', 'macintosh'] as const

// The types of Bun name only some of the encodings that it knows.
type Encoding = ConstructorParameters<typeof TextDecoder>[0]
const createDecoder = (encoding: string, fatal = false): TextDecoder =>
  new TextDecoder(encoding as Encoding, { fatal })

/** True if a `TextDecoder` knows an encoding of this name (https://encoding.spec.whatwg.org/#names-and-labels). */
export function isEncoding(name: string): boolean {
  try {
    createDecoder(name)
    return true
  } catch {
    return false
  }
}

/** UTF-16 has a byte order mark; or every other byte of the first characters, ASCII in both formats, is zero. */
export function encodingOf([a, b, c, d]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0 && d === 0)) return 'utf-16le'
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0 && c === 0)) return 'utf-16be'
  return 'utf-8'
}

const LF = 10
const CR = 13

/** The line ends of a text: those of Unix, Windows and old Macs. `before`: the last byte before it. */
function countLineEnds(bytes: Uint8Array, before = 0): number {
  let count = before === CR && bytes[0] === LF ? -1 : 0
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count += 1
  for (let at = bytes.indexOf(CR); at >= 0; at = bytes.indexOf(CR, at + 1)) {
    if (bytes[at + 1] !== LF) count += 1
  }
  return count
}

/** The length of the well-formed UTF-8 that bytes begin with (https://www.unicode.org/versions/Unicode16.0.0/, table 3-7). */
function validLength(bytes: Uint8Array): number {
  const isTail = (at: number, from = 0x80, to = 0xbf) => {
    const byte = bytes[at] ?? 0
    return byte >= from && byte <= to
  }
  for (let at = 0; ; ) {
    const byte = bytes[at]
    if (byte === undefined) return at
    const second = byte === 0xe0 ? [0xa0] : byte === 0xf0 ? [0x90] : [0x80]
    const last = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf
    const length =
      byte < 0x80 ? 1 : byte < 0xc2 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0
    if (length === 0 || (length > 1 && !isTail(at + 1, second[0], last))) return at
    for (let next = at + 2; next < at + length; next++) if (!isTail(next)) return at
    at += length
  }
}

/** Scores how plausible a decoding is: small letters beyond ASCII within words count for it, signs and capitals against it. */
function plausibility(text: string): number {
  let score = 0
  const characters = [...text]
  for (const [index, it] of characters.entries()) {
    // A space that does not break is as plausible as another; Macintosh has it where Windows has a capital.
    if (it <= '\x7f' || it === '\xa0') continue
    const [before = '', after = ''] = [characters[index - 1], characters[index + 1]]
    if (/\p{Ll}/u.test(it)) score += 2
    else if (/\p{Lu}/u.test(it)) score += /\p{Ll}/u.test(before) ? -2 : 1
    else if (/[\p{Pi}\p{Pf}\p{Pd}]/u.test(it)) score += 1
    else score -= /\p{L}/u.test(before + after) ? 2 : 1
  }
  return score
}

/** The encodings that a text which is not UTF-8 is usually in, the one that reads best first. */
export const usualEncodings = (bytes: Uint8Array): readonly string[] => {
  const score = (name: string) => plausibility(createDecoder(name).decode(bytes))
  return USUAL.toSorted((a, b) => score(b) - score(a))
}

const isLineEnd = (byte: number | undefined) => byte === LF || byte === CR

/** Describes bytes that are not UTF-8: their text in the usual encodings, and the option that reads them. */
export function notUtf8(bytes: Uint8Array, words: Words): string {
  const bad = validLength(bytes)
  let start = bad
  while (start > 0 && bad - start < CONTEXT_BYTES && !isLineEnd(bytes[start - 1])) start--
  // Not from within a character.
  while (((bytes[start] ?? 0) & 0xc0) === 0x80 && start < bad) start++
  let end = bad
  while (end < bytes.length && end - bad < CONTEXT_BYTES && !isLineEnd(bytes[end])) end++
  const context = bytes.subarray(start, end)
  const [best = '', other = ''] = usualEncodings(bytes.subarray(0, SCORED_BYTES))
  const as = (name: string) => `${showText(createDecoder(name).decode(context))} as ${name}`
  return `it reads ${as(best)}, ${as(other)}; ${words.encoding(best)}`
}

/** Decodes the parts of a text that begins in `line`. Throws an `OpenError` that names the line where it cannot. */
export async function* decodeParts(
  parts: AsyncIterable<Uint8Array>,
  encoding: string,
  words: Words,
  line = 1,
): AsyncGenerator<string> {
  const decoder = createDecoder(encoding, true)
  let before: Uint8Array = new Uint8Array()

  function decode(part: Uint8Array, isLast: boolean): string {
    try {
      return decoder.decode(part, { stream: !isLast })
    } catch {
      if (encoding !== 'utf-8') {
        throw new OpenError(`not ${encoding}, at line ${line} or later; ${words.encoding(null)}`)
      }
      const all = concat([before, part])
      const good = all.subarray(before.length, validLength(all))
      const at = line + countLineEnds(good, before.at(-1))
      throw new OpenError(`not UTF-8 at line ${at}: ${notUtf8(all, words)}`)
    }
  }

  for await (const part of parts) {
    yield decode(part, false)
    line += countLineEnds(part, before.at(-1))
    before = afterFirstCharacter(
      concat([before, part.slice(-2 * CONTEXT_BYTES)]).slice(-2 * CONTEXT_BYTES),
    )
  }
  decode(new Uint8Array(), true)
}

/** Bytes without the end of a character that began before them. */
function afterFirstCharacter(bytes: Uint8Array): Uint8Array {
  let at = 0
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return bytes.subarray(at)
}

/** The same bytes; the first part has enough of them to tell what a file is. */
export async function* joinFirst(
  stream: AsyncIterable<Uint8Array>,
  least = HEAD_BYTES,
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
    if (length < least) continue
    yield concat(head)
    head = null
  }
  if (head && length > 0) yield concat(head)
}

/**
 * The text of a stream, without a byte order mark (RFC 8259, section 8.1). `encoding`: null to tell UTF-8 from UTF-16 by the
 * first bytes. Throws an `OpenError` that names the line if the text is in another.
 */
export async function* decodeText(
  stream: AsyncIterable<Uint8Array>,
  encoding: string | null = null,
  words: Words = optionWords,
): AsyncGenerator<string> {
  const parts = joinFirst(stream)
  const first = await parts.next()
  if (first.done) return
  yield* decodeParts(prepend(first.value, parts), encoding ?? encodingOf(first.value), words)
}

/** A stream with one more item before it. */
export async function* prepend<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}

const UTF8 = new TextEncoder()

/** The bytes of a text as UTF-8 without its mark; those of a text that is UTF-8 already are not checked. */
export async function* toUtf8(
  stream: AsyncIterable<Uint8Array>,
  encoding: string | null,
  words: Words,
): AsyncGenerator<Uint8Array> {
  const parts = joinFirst(stream)
  const first = await parts.next()
  if (first.done) return
  const all = prepend(first.value, parts)
  const from = encoding ?? encodingOf(first.value)
  if (from === 'utf-8') yield* withoutMark(first.value, parts)
  else for await (const text of decodeParts(all, from, words)) yield UTF8.encode(text)
}

async function* withoutMark(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const hasMark = first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf
  yield hasMark ? first.subarray(3) : first
  yield* rest
}
