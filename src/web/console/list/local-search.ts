// The page's own search: words in any order; case and accents are ignored.

import type { NewPlant } from '../../../client/client.ts'
import { matches, type Query } from '../query.ts'

const PLAIN = /^[\x20-\x7e]*$/
const MARKS = /\p{M}+/gu
// Letters with a stroke and ligatures, which Unicode does not decompose.
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}
const LETTER = /[ßæœøłđðþı]/g

/** A text without accents, in lower case. */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  const bare = text.toLowerCase().normalize('NFKD').replace(MARKS, '')
  return bare.replace(LETTER, (letter) => LETTERS[letter] ?? letter)
}

const FOLDED_NAMES = new WeakMap<NewPlant, string>()

function foldedName(plant: NewPlant): string {
  const cachedName = FOLDED_NAMES.get(plant)
  if (cachedName !== undefined) return cachedName
  const foldedText = fold(plant.name)
  FOLDED_NAMES.set(plant, foldedText)
  return foldedText
}

const isDigit = (text: string | undefined): boolean => text !== undefined && /\d/.test(text)

/** True if a text contains a word; one that begins with a digit must begin a number, leading zeros aside. */
function hasWord(text: string, word: string): boolean {
  if (!isDigit(word[0])) return text.includes(word)
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at)) {
    let start = at
    while (text[start - 1] === '0') start -= 1
    if (!isDigit(text[start - 1])) return true
    // Skips the rest of this number.
    while (isDigit(text[at])) at += 1
  }
  return false
}

/** Returns a predicate: a plant's name has every word of the search, and the rest matches as in the service. */
export function matcherOf({ name = '', ...others }: Query): (plant: NewPlant) => boolean {
  const words = fold(name).split(/\s+/).filter(Boolean)
  return (plant) =>
    matches(others, plant) && words.every((word) => hasWord(foldedName(plant), word))
}
