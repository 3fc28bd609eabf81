// Encodes texts by inverting the decoder, character by character.
import { createDecoder } from '../../../src/formats/encoding/encoding'

const MULTIPLE = ['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr']

/** Maps each character of one or two bytes to its bytes. */
function tableOf(encoding: string): ReadonlyMap<string, readonly number[]> {
  const decoder = createDecoder(encoding)
  const table = new Map<string, readonly number[]>()
  const add = (...bytes: number[]) => {
    const text = decoder.decode(Uint8Array.from(bytes))
    if ([...text].length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, bytes)
  }
  for (let byte = 0; byte < 256; byte++) add(byte)
  if (!MULTIPLE.includes(encoding)) return table
  for (let lead = 0x81; lead < 0xff; lead++) {
    for (let trail = 0x40; trail < 0xff; trail++) add(lead, trail)
  }
  return table
}

const tables = new Map<string, ReturnType<typeof tableOf>>()

// Marks that are part of a windows-1258 letter; tone marks follow as separate characters.
const OWN_MARK = /[\u0302\u0306\u031b]/

/** Splits a character into a letter and the tone marks that follow it in windows-1258. */
function partsOf(character: string): string[] {
  const [letter = '', ...marks] = [...character.normalize('NFD')]
  const own = marks.find((mark) => OWN_MARK.test(mark)) ?? ''
  return [(letter + own).normalize('NFC'), ...marks.filter((mark) => mark !== own)]
}

/** Encodes a text. Throws if the encoding lacks one of its characters. */
export function encode(text: string, encoding: string): Uint8Array {
  const table = tables.get(encoding) ?? tableOf(encoding)
  tables.set(encoding, table)
  const bytesOf = (character: string): readonly number[] => {
    const bytes = table.get(character)
    if (bytes) return bytes
    throw new Error(`${encoding} has no ${character}`)
  }
  return Uint8Array.from(
    [...text].flatMap((character) =>
      table.has(character)
        ? bytesOf(character)
        : partsOf(character).flatMap((part) => [...bytesOf(part)]),
    ),
  )
}
