// Where a page of plants found by their names ends: a name and an id, as a text that the client gives back.

import { PlantError } from '../errors'
import { type Int64, type NewPlant, parseInt64 } from '../plant'
import type { NamePlace, Store } from '../store'

// A name may be as long as a body, a URL may not: so a cursor has so many of its characters at most.
const MOST_CHARACTERS = 1024
const CURSOR = /^(-?\d{1,19})([.~])([\w-]*)$/
const WHOLE = '.'
const CUT = '~'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

type Cursor = { readonly id: Int64; readonly text: string; readonly isWhole: boolean }

// Without half of a surrogate pair at its end, for which UTF-8 has no bytes.
function cut(name: string): string {
  const text = name.slice(0, MOST_CHARACTERS)
  return text.isWellFormed() ? text : text.slice(0, -1)
}

/** The place behind a plant: its id, and its name or the beginning of it in base64url. */
export function toCursor({ id, name }: NewPlant): string {
  const text = cut(name)
  return `${id}${text === name ? WHOLE : CUT}${Buffer.from(text).toString('base64url')}`
}

/** What a cursor stands for; null where it is none. */
export function parseCursor(cursor: string): Cursor | null {
  const [, digits = '', kind, encoded = ''] = CURSOR.exec(cursor) ?? []
  const id = parseInt64(digits)
  if (id === null) return null
  try {
    return { id, text: UTF8.decode(Buffer.from(encoded, 'base64url')), isWhole: kind === WHOLE }
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
  const { id, text, isWhole } = parsed
  if (isWhole) return { name: text, id }
  const plant = await store.readPlant(id)
  return plant?.name.startsWith(text) ? plant : { name: text, id }
}
