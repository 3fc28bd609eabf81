// Bytes -> their encoding: right, or absent. A detector distinguishes the scripts of the world; how plausible a text is
// distinguishes the encodings of Latin letters, Macintosh and DOS included.

import { showText } from '../row'
import { guessEncoding, type Loader } from './chardetng'
import { createDecoder, type Detected } from './encoding'
import { judge, type Reading } from './readable'

/** The encodings of Latin letters; of several with the same text, the first counts. */
const OF_LATIN = [
  'windows-1252',
  'windows-1250',
  'iso-8859-2',
  'windows-1254',
  'windows-1257',
  'windows-1258',
  'macintosh',
  'cp850',
  'cp437',
] as const
/** Its bytes look like those of `windows-1251`, but for capitals and a few letters. */
const CYRILLIC_OF_MAC = 'x-mac-cyrillic'
/** The sample may end within a character. */
const CUT_OFF = { stream: true }
const MAX_READINGS = 2
const CONTEXT_CHARACTERS = 60

type Candidate = Reading & { readonly encoding: string; readonly text: string }

function readAs(bytes: Uint8Array, encoding: string): Candidate | null {
  try {
    const text = createDecoder(encoding, true).decode(bytes, CUT_OFF)
    return { encoding, text, ...judge(text) }
  } catch {
    return null
  }
}

/** The most plausible decodings of a sample, each text once. */
function bestOf(sample: Uint8Array, encodings: readonly string[], isForeign: boolean) {
  const readings = encodings.flatMap((encoding) => readAs(sample, encoding) ?? [])
  const readable = readings.filter(
    (reading) => reading.isReadable && reading.isForeign === isForeign,
  )
  const least = Math.min(...readable.map(({ odd }) => odd))
  const texts = new Map<string, Candidate>()
  for (const reading of readable)
    if (reading.odd === least && !texts.has(reading.text)) texts.set(reading.text, reading)
  return [...texts.values()]
}

async function candidatesOf(sample: Uint8Array, load: Loader): Promise<readonly Candidate[]> {
  const guess = (await guessEncoding(sample, load)).toLowerCase()
  const foreign = readAs(sample, guess)?.isForeign
    ? bestOf(sample, [guess, CYRILLIC_OF_MAC], true)
    : []
  return foreign.length > 0 ? foreign : bestOf(sample, [...OF_LATIN, guess], false)
}

/** Detects the encoding of the lines with bytes beyond ASCII of a text. */
export async function detectEncoding(sample: Uint8Array, load: Loader): Promise<Detected> {
  const candidates = await candidatesOf(sample, load)
  const [first] = candidates
  const readings = candidates.slice(0, MAX_READINGS).map(({ encoding, text }) => {
    const [line = ''] = text.split(/[\r\n]/, 1)
    return `${showText(line.slice(0, CONTEXT_CHARACTERS))} as ${encoding}`
  })
  return { encoding: first && candidates.length === 1 ? first.encoding : null, readings }
}
