// Where a page of plants found by their names ends: a name and an id, as a text that the client gives back.

import { PlantError } from '../errors'
import { type Int64, type NewPlant, parseInt64 } from '../plant'
import type { NamePlace, Store } from '../store'

// A name may be as long as a body, a URL may not: so a cursor has so many of its characters at most.
const MOST_CHARACTERS = 1024
const CURSOR = /^(-?\d{1,19})([.~])([\w-]*)$/
const WHOLE = '.'
const CUT = '~'
// Of a SHA-256 in base64url, which stands before the beginning of a name that is cut.
const HASH_CHARACTERS = 22

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** `hash` is that of the whole name where `text` is only its beginning, else null. */
type Cursor = { readonly id: Int64; readonly text: string; readonly hash: string | null }

// Without half of a surrogate pair at its end, for which UTF-8 has no bytes.
function cut(name: string): string {
  const text = name.slice(0, MOST_CHARACTERS)
  return text.isWellFormed() ? text : text.slice(0, -1)
}

const hashOf = (name: string): string =>
  Bun.SHA256.hash(name, 'base64url').slice(0, HASH_CHARACTERS)

/** The place behind a plant: its id, and its name or the hash and the beginning of it in base64url. */
export function toCursor({ id, name }: NewPlant): string {
  const text = cut(name)
  const encoded = Buffer.from(text).toString('base64url')
  return text === name ? `${id}${WHOLE}${encoded}` : `${id}${CUT}${hashOf(name)}${encoded}`
}

/** What a cursor stands for; null where it is none. */
export function parseCursor(cursor: string): Cursor | null {
  const [, digits = '', kind, encoded = ''] = CURSOR.exec(cursor) ?? []
  const id = parseInt64(digits)
  if (id === null) return null
  const start = kind === CUT ? HASH_CHARACTERS : 0
  try {
    const text = UTF8.decode(Buffer.from(encoded.slice(start), 'base64url'))
    return { id, text, hash: kind === CUT ? encoded.slice(0, start) : null }
  } catch {
    return null
  }
}

/**
 * The place where a page begins. It holds though the plant was deleted or renamed since. Only of a long name that is gone
 * is the end not known: then the names with the same beginning come again, and none is left out.
 */
export async function findPlace(store: Store, cursor: string, prefix: string): Promise<NamePlace> {
  const parsed = parseCursor(cursor)
  if (!parsed?.text.startsWith(prefix)) {
    throw new PlantError(40002, 'after: expected "next" of a page of the same name')
  }
  const { id, text, hash } = parsed
  const plant = hash === null ? null : await store.readPlant(id)
  return plant && hashOf(plant.name) === hash ? plant : { name: text, id }
}
