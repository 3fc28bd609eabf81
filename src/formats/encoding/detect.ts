// Bytes -> their encoding, if it is certain. A detector tells the scripts of the world apart. Encodings of Latin letters,
// Macintosh included, are told apart by how readable the text is.

import { concat } from '../bytes'
import { showText } from '../row'
import { guessEncoding, type Loader } from './chardetng'
import { createDecoder, tryUtf8 } from './encoding'
import { assessReadability, type Readability } from './readable'

/** The encodings of Latin letters. If several give the same text, the first counts. */
const LATIN_ENCODINGS = [
  'windows-1252',
  'windows-1250',
  'iso-8859-2',
  'windows-1254',
  'windows-1257',
  'windows-1258',
  'macintosh',
  'cp850',
] as const
/** Few files have it: it is never proposed, but Macintosh is not certain where it is as plausible. */
const DOS = 'cp850'
/** The encodings that a guess may stand for: they differ in capitals and a few letters, or read a text in capitals. */
const RIVALS: Readonly<Record<string, readonly string[]>> = {
  'windows-1251': ['x-mac-cyrillic'],
  ibm866: ['x-mac-cyrillic'],
  'koi8-u': ['windows-1253', 'iso-8859-7'],
}
/** The letters that it takes to be certain of an encoding in which short words of other languages are words as well. */
const MIN_LETTERS: Readonly<Record<string, number>> = {
  gbk: 10,
  'euc-kr': 10,
  'euc-jp': 10,
  'windows-1255': 20,
  'iso-8859-8': 20,
}
/** The last character of the sample may be cut off. */
const UNFINISHED = { stream: true }
const MAX_READINGS = 2
const CONTEXT_CHARACTERS = 60

type Candidate = Readability & { readonly encoding: string; readonly text: string }

function decodeAs(bytes: Uint8Array, encoding: string): Candidate | null {
  try {
    const text = createDecoder(encoding, true).decode(bytes, UNFINISHED)
    return { encoding, text, ...assessReadability(text) }
  } catch {
    return null
  }
}

/** The most plausible decodings of a sample, each text once. */
function mostPlausible(sample: Uint8Array, encodings: readonly string[], isForeign: boolean) {
  const candidates = encodings.flatMap((encoding) => decodeAs(sample, encoding) ?? [])
  const readable = candidates.filter(
    (candidate) => candidate.isReadable && candidate.isForeign === isForeign,
  )
  const minOddCount = Math.min(...readable.map(({ oddCount }) => oddCount))
  const texts = new Map<string, Candidate>()
  for (const candidate of readable)
    if (candidate.oddCount === minOddCount && !texts.has(candidate.text))
      texts.set(candidate.text, candidate)
  return [...texts.values()]
}

async function candidatesOf(sample: Uint8Array, load: Loader): Promise<readonly Candidate[]> {
  const guess = (await guessEncoding(sample, load)).toLowerCase()
  const foreign = decodeAs(sample, guess)?.isForeign
    ? mostPlausible(sample, [guess, ...(RIVALS[guess] ?? [])], true)
    : []
  // A text that is cut off within a character looks like UTF-8.
  const guesses = guess === 'utf-8' ? [] : [guess]
  return foreign.length > 0
    ? foreign
    : mostPlausible(sample, [...LATIN_ENCODINGS, ...guesses], false)
}

const isCertain = ({ encoding, foreignCount }: Candidate): boolean =>
  foreignCount >= (MIN_LETTERS[encoding] ?? 0)

const BEYOND_ASCII = /\P{ASCII}/u
/** Characters of three bytes: two letters of East Asia may be UTF-8 of two bytes each by chance. */
const THREE_BYTES = /[\u0800-\uffff]/
const EAST_ASIAN = /^(gb|big5|euc-|shift_jis)/

/** The encoding of a text. */
export type Detection = {
  /** Null if several are possible, or none. */
  readonly encoding: string | null
  /** How the first line reads. */
  readonly readings: readonly string[]
}

/** Detects the encoding of a text that is not UTF-8. `lines`: those beyond ASCII, or null if some of them are UTF-8. */
export async function detectEncoding(
  lines: readonly Uint8Array[],
  load: Loader,
): Promise<Detection | null> {
  const all = await candidatesOf(concat(lines), load)
  const others = all.filter(({ encoding }) => encoding !== DOS)
  const candidates = others.every(({ encoding }) => encoding === 'macintosh') ? all : others
  const [first] = candidates
  const sign = EAST_ASIAN.test(first?.encoding ?? '') ? THREE_BYTES : BEYOND_ASCII
  if (lines.some((line) => sign.test(tryUtf8(line) ?? ''))) return null
  const readings = candidates.slice(0, MAX_READINGS).map(({ encoding, text }) => {
    const [line = ''] = text.split(/[\r\n]/, 1)
    return `${showText(line.slice(0, CONTEXT_CHARACTERS))} as ${encoding}`
  })
  const isOnly = first && candidates.length === 1 && first.encoding !== DOS && isCertain(first)
  return { encoding: isOnly ? first.encoding : null, readings }
}
