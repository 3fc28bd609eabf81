// Bytes -> their encoding, if it is certain. A detector tells the scripts of the world apart. Encodings of Latin letters,
// Macintosh included, are told apart by how readable the text is.

import { showText } from '../row'
import { guessEncoding, type Loader } from './chardetng'
import {
  BEYOND_ASCII,
  createDecoder,
  type Detection,
  type EncodingSample,
  linesOf,
} from './encoding'
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
/** Never proposed, as few files have it; but where it is as plausible, Macintosh is not certain. */
const DOS = 'cp850'
/** The encodings that a guess may stand for: they differ in capitals and a few letters, or read a text in capitals. */
const RIVALS: Readonly<Record<string, readonly string[]>> = {
  'windows-1251': ['x-mac-cyrillic'],
  ibm866: ['x-mac-cyrillic'],
  'koi8-u': ['windows-1253', 'iso-8859-7'],
}
/** The letters that it takes to be certain of an encoding in which short words of other languages are words, too. */
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

/** Characters of three bytes: two letters of East Asia may be UTF-8 of two bytes each by chance. */
const THREE_BYTES = /[\u0800-\uffff]/
const EAST_ASIAN = /^(gb|big5|euc-|shift_jis)/

/** Returns a test for lines beyond ASCII that are UTF-8. */
function createUtf8Test(encoding: string): (line: Uint8Array) => boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const sign = EAST_ASIAN.test(encoding) ? THREE_BYTES : BEYOND_ASCII
  return (line) => {
    try {
      return sign.test(decoder.decode(line))
    } catch {
      return false
    }
  }
}

/** Detects the encoding of a text. `sample`: its lines that have bytes beyond ASCII, from the first bad one on. */
export async function detectEncoding(
  { sample, earlier }: EncodingSample,
  load: Loader,
): Promise<Detection> {
  const all = await candidatesOf(sample, load)
  const isRival = all.every(({ encoding }) => encoding === DOS || encoding === 'macintosh')
  const candidates = isRival ? all : all.filter(({ encoding }) => encoding !== DOS)
  const [first] = candidates
  const readings = candidates.slice(0, MAX_READINGS).map(({ encoding, text }) => {
    const [line = ''] = text.split(/[\r\n]/, 1)
    return `${showText(line.slice(0, CONTEXT_CHARACTERS))} as ${encoding}`
  })
  const isMixed =
    first !== undefined &&
    [earlier, sample].some((bytes) => linesOf(bytes).some(createUtf8Test(first.encoding)))
  const isOnly = first && first.encoding !== DOS && candidates.length === 1 && !isMixed
  return { encoding: isOnly && isCertain(first) ? first.encoding : null, readings, isMixed }
}
