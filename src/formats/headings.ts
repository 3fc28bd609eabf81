// The headings of plant lists, by language. A heading means a field only if it is one of these, word for word: a guess is right
// or absent.

/** The content of a column. `name`: of any kind; `epithet`: the second word of a scientific name, or all of it. */
export type Meaning =
  | 'id'
  | 'name'
  | 'scientific'
  | 'common'
  | 'genus'
  | 'epithet'
  | 'cultivar'
  | 'tag'

// A line a language, phrases between commas: English, German, French, Spanish, Italian, Portuguese.
const PHRASES: Readonly<Record<Meaning, string>> = {
  id: `
    id, no, nr, number, num, key, row, sku
    nummer, lfd nr, laufende nummer, kennnummer, inventarnummer
    numéro, n°, no article, numéro article, référence, id plante, identifiant
    número, núm, n.º, id planta, código, número de inventario
    numero, n., numero articolo, id pianta, codice
    número do artigo`,
  name: `
    name, plant, plant name, full name, name of plant
    name, pflanze, pflanzenname, pflanzenart, baumart, bezeichnung, artikelbezeichnung, artikelname
    nom, plante, nom de la plante, désignation
    nombre, planta, nombre de la planta, denominación
    nome, pianta, nome della pianta, denominazione
    nome, planta, nome da planta`,
  scientific: `
    scientific name, latin name, botanical name, accepted name, taxon name, species name, binomial, binomial name, latin,
    scientific, botanical, taxon, accepted scientific name, full scientific name
    wissenschaftlicher name, lateinischer name, botanischer name, botanische bezeichnung, lateinisch, botanisch, artname
    nom scientifique, nom latin, nom botanique, latin, espèce nom scientifique
    nombre científico, nombre latino, nombre botánico, latín
    nome scientifico, nome latino, nome botanico, latino
    nome científico, nome latino, nome botânico, latim`,
  common: `
    common name, common, vernacular name, vernacular, english name, popular name, trivial name, everyday name
    deutscher name, trivialname, volksname, gebräuchlicher name, deutsch
    nom commun, nom vernaculaire, nom français, nom courant, nom usuel
    nombre común, nombre vulgar, nombre popular, nombre vernáculo
    nome comune, nome volgare, nome italiano
    nome comum, nome popular, nome vulgar`,
  genus: `
    genus, genus name, genera
    gattung, gattungsname
    genre
    género
    genere
    gênero, género`,
  epithet: `
    species, specific epithet, epithet, species epithet
    art, artepitheton, epitheton, spezies
    espèce, épithète
    especie, epíteto
    specie, epiteto
    espécie, epíteto`,
  cultivar: `
    cultivar, cultivar name, cultivar epithet, cv
    sorte, sortenname
    cultivar, variété
    cultivar, variedad
    cultivar, varietà
    cultivar, variedade`,
  tag: `
    tag, family, family name, category, group, plant group, plant type, genus
    familie, pflanzenfamilie, kategorie, gruppe, warengruppe, gattung
    famille, catégorie, groupe, genre
    familia, categoría, grupo, género
    famiglia, categoria, gruppo, genere
    família, categoria, grupo`,
}

/** The words of a heading, even of one in camel case or with signs between them: lower case, without accents. */
const wordsOf = (heading: string): string =>
  heading
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}°]+/gu, ' ')
    .trim()

/** `name (latin)` and `name_latin` are latin names: the words of a name may have any order. */
const inAnyOrder = (words: string): string => words.split(' ').toSorted().join(' ')

/** Things that have a number, and the words for it. */
const NUMBERED =
  'id plant item article product catalog catalogue accession record stock species taxon gbif inventory specimen artikel pflanzen bestell'
const NUMBERS = 'id no nr number key nummer'
const NUMBER_PHRASES = NUMBERED.split(' ').flatMap((thing) =>
  NUMBERS.split(' ').map((number) => `${thing} ${number}`),
)

const knownOf = (meaning: Meaning): ReadonlySet<string> => {
  const listed = PHRASES[meaning].split(/[,\n]/).map(wordsOf)
  const phrases = meaning === 'id' ? [...listed, ...NUMBER_PHRASES] : listed
  const all = meaning === 'id' ? phrases : phrases.map(inAnyOrder)
  // Databases join the words: `scientificname`.
  const compounds = phrases.map((phrase) => phrase.replaceAll(' ', ''))
  return new Set([...all, ...compounds].filter((phrase) => phrase !== ''))
}

const MEANINGS = Object.keys(PHRASES) as readonly Meaning[]
const KNOWN_HEADINGS = new Map(MEANINGS.map((meaning) => [meaning, knownOf(meaning)]))

/** True if a heading means this. */
export function isHeadingOf(meaning: Meaning, heading: string): boolean {
  const words = wordsOf(heading)
  return KNOWN_HEADINGS.get(meaning)?.has(meaning === 'id' ? words : inAnyOrder(words)) === true
}

/** True if headings of this meaning are known. */
export const isMeaning = (word: string): word is Meaning => Object.hasOwn(PHRASES, word)

/** True if a heading has any known meaning. */
export const isKnownHeading = (heading: string): boolean =>
  MEANINGS.some((meaning) => isHeadingOf(meaning, heading))
