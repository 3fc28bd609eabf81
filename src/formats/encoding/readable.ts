// Text -> whether it reads as words of a language, which a wrongly decoded text hardly ever does.

/** The letters beyond a to z of each language with Latin letters, in lower case. */
const ALPHABETS: readonly ReadonlySet<string>[] = [
  // Languages of western Europe together, because names of varieties mix them: German, Spanish, Dutch, Swedish, Finnish
  'äöüßéèêëàâçîïôûñáíóúåæœ',
  'àâæçéèêëîïôœùûüÿ', // French
  'áâãàçéêíóôõúü', // Portuguese
  'àèéìíîòóùú', // Italian
  'àçèéíïòóúü', // Catalan
  'æøåéèòóôüö', // Danish, Norwegian
  'áðéíóúýþæö', // Icelandic
  'äõöüšž', // Estonian
  'ąćęłńóśźż', // Polish
  'áčďéěíňóřšťúůýžöü', // Czech
  'áäčďéíĺľňóôŕšťúýž', // Slovak
  'áéíóöőúüű', // Hungarian
  'ăâîşţșț', // Romanian
  'čćđšž', // Croatian, Slovenian
  'çğıöşüâîû', // Turkish
  'ąčęėįšųūž', // Lithuanian
  'āčēģīķļņšūž', // Latvian
  // Vietnamese, whose marks of tones follow their letters in its code page
  'àáâèéêíóôùúăđơư\u0300\u0301\u0303\u0309\u0323',
].map((letters) => new Set(letters))

const CASED = /\p{Ll}|\p{Lu}/u
// Accents that stand alone are letters in Unicode.
const LETTER = /(?![\u02b0-\u02ff])[\p{L}\p{M}]/u
/** A word of Latin letters beyond ASCII alone, which hardly any language has. */
const UNLIKELY_WORD = /(?<![\p{L}\p{M}])(?:(?!\p{ASCII})\p{Script=Latin}){2,}(?![\p{L}\p{M}])/gu
const LATIN = /\p{Script=Latin}/u
const SCRIPTS = [LATIN, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]
const scriptOf = (letter: string): number => SCRIPTS.findIndex((script) => script.test(letter))
/** Signs and spaces of prose and prices. */
const SIGN = /[\p{Pi}\p{Pf}\p{Pd}\p{Zs}¡¿„‚•…·×°§№™®©²³½¼¾ªº、。・()「」【】ー,]/u
const CURRENCY = /[€£¥]/
/** Forms of letters that end a word. */
const FINAL = /[ךםןףץς]/
/** A long vowel of Latvian, before which no other vowel stands. */
const LONG_VOWEL = /[āēīōū]/i
/** Signs that stand between letters. */
const INNER = /[’‘\p{Pd}\p{Zs}·×ー・]/u

/** True if a character beyond ASCII cannot stand between its neighbours. */
function isFault(before: string, character: string, after: string): boolean {
  if (!LETTER.test(character) || character === 'ƒ' || character === 'ª' || character === 'º') {
    if (CURRENCY.test(character)) return LETTER.test(before + after)
    if (!SIGN.test(character)) return true
    return LETTER.test(before) && LETTER.test(after) && !INNER.test(character)
  }
  if (FINAL.test(character) && LETTER.test(after)) return true
  if (LONG_VOWEL.test(character) && /[aeiou]/i.test(after)) return true
  if (!CASED.test(character)) return /[a-z]/.test(before + after)
  if (/\p{Lu}/u.test(character) && /\p{Ll}/u.test(before)) return true
  if (/\p{Ll}/u.test(character) && /\p{Lu}/u.test(after)) return true
  return [before, after].some(
    (other) => CASED.test(other) && scriptOf(other) !== scriptOf(character),
  )
}

export type Readability = {
  /** The number of characters that cannot stand where they do, or that the language lacks. */
  readonly oddCount: number
  /** True if nearly all characters beyond ASCII can stand where they do, and the Latin letters are of one language. */
  readonly isReadable: boolean
  /** True if it has letters other than Latin ones. */
  readonly isForeign: boolean
  /** The number of letters other than Latin ones. */
  readonly foreignCount: number
}

/** The share of odd characters beyond ASCII that is tolerated: foreign names, typing errors. */
const MAX_ODD = 0.02

/** Scores how plausible a decoded text is. */
export function assessReadability(text: string): Readability {
  const characters = [...text]
  const letters = new Map<string, number>()
  let nonAscii = 0
  let faultCount = 0
  let foreignCount = 0
  for (const [index, character] of characters.entries()) {
    if (character <= '\x7f') continue
    nonAscii += 1
    const [before = ' ', after = ' '] = [characters[index - 1], characters[index + 1]]
    if (isFault(before, character, after)) faultCount += 1
    else if (LATIN.test(character) || /\p{M}/u.test(character)) {
      const letter = character.toLowerCase()
      letters.set(letter, (letters.get(letter) ?? 0) + 1)
    } else if (LETTER.test(character)) foreignCount += 1
  }
  const outside = (alphabet: ReadonlySet<string>): number =>
    letters.entries().reduce((sum, [letter, count]) => sum + (alphabet.has(letter) ? 0 : count), 0)
  const outsideCount = foreignCount > 0 ? 0 : Math.min(...ALPHABETS.map(outside))
  const unlikelyCount = [...text.matchAll(UNLIKELY_WORD)].length
  const oddCount = faultCount + outsideCount + unlikelyCount
  return {
    oddCount,
    isReadable: oddCount <= nonAscii * MAX_ODD,
    isForeign: foreignCount > nonAscii / 2,
    foreignCount,
  }
}
