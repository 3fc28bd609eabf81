// The cursor of a list by name: the name and the id of the last plant of a page, as a text that the client sends back.

import { PlantError } from '../errors'
import { type Int64, isText, type NewPlant, parseInt64 } from '../plant'
import type { NamePlace, Store } from '../store'

// A name may be as long as a body, but a URL may not, so a cursor holds at most this many of its characters.
const MOST_CHARACTERS = 1024
const CURSOR = /^(-?\d{1,19})([.~])([\w-]*)$/
const WHOLE = '.'
const CUT = '~'
// Of a SHA-256 in base64url, which precedes a name that was cut.
const HASH_CHARACTERS = 22

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** `hash`: of the whole name, if `text` is only its beginning; else null. */
type Cursor = { readonly id: Int64; readonly text: string; readonly hash: string | null }

// Never ends within a surrogate pair: UTF-8 cannot encode half of one.
function cut(name: string): string {
  const text = name.slice(0, MOST_CHARACTERS)
  return text.isWellFormed() ? text : text.slice(0, -1)
}

const hashOf = (name: string): string =>
  Bun.SHA256.hash(name, 'base64url').slice(0, HASH_CHARACTERS)

/** The cursor that continues after a plant. A long name is cut, and preceded by its hash. */
export function toCursor({ id, name }: NewPlant): string {
  const text = cut(name)
  const encoded = Buffer.from(text).toString('base64url')
  return text === name ? `${id}${WHOLE}${encoded}` : `${id}${CUT}${hashOf(name)}${encoded}`
}

/** Reads a cursor; null if the text is not one. */
export function parseCursor(cursor: string): Cursor | null {
  const [, digits = '', kind, encoded = ''] = CURSOR.exec(cursor) ?? []
  const id = parseInt64(digits)
  if (id === null) return null
  const start = kind === CUT ? HASH_CHARACTERS : 0
  try {
    const text = UTF8.decode(Buffer.from(encoded.slice(start), 'base64url'))
    return isText(text) ? { id, text, hash: kind === CUT ? encoded.slice(0, start) : null } : null
  } catch {
    return null
  }
}

/**
 * The place where the next page begins, even if the plant has been deleted or renamed since. If its name was cut, the rest
 * of the name is lost then: plants whose names share that beginning are listed again, and none is left out.
 */
export async function findPlace(store: Store, cursor: string, prefix: string): Promise<NamePlace> {
  const parsed = parseCursor(cursor)
  if (!parsed?.text.startsWith(prefix)) {
    throw new PlantError(40002, 'after: expected the "next" of a list with the same name')
  }
  const { id, text, hash } = parsed
  const plant = hash === null ? null : await store.readPlant(id)
  return plant && hashOf(plant.name) === hash ? plant : { name: text, id }
}
