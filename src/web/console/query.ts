// A search for plants: as an object, and as the text of the search box and the URL.

import type { ListQuery } from '../../client/client.ts'
import { INT64_MAX, INT64_MIN, INT64_RULE, parseId } from './int64.ts'

/** The plant with an id, or the plants with a text in their names, with a tag or without one, or both. */
export type Query = {
  readonly id?: bigint
  readonly name?: string
  readonly tag?: string
  readonly isUntagged?: true
}

const TERM = /(?:(id|name|tag|no):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/gis

/** Refines a search by another, whose parts replace the same parts. */
export function refineQuery({ id: _, ...before }: Query, refinement: Query): Query {
  if (refinement.id !== undefined) return refinement
  const { tag, isUntagged, ...others } = before
  const isTagged = refinement.tag !== undefined || refinement.isUntagged
  return isTagged ? { ...others, ...refinement } : { ...before, ...refinement }
}

/** Parses a search: an integer is an id, `tag:aroid` a tag, `no:tag` is for none, anything else a part of a name. */
export function parseQuery(text: string): Query | { readonly problem: string } {
  const words: string[] = []
  let query: Query = {}
  for (const [, key, quotedText, plain = ''] of text.matchAll(TERM)) {
    const value = quotedText?.replace(/\\(.)/gs, '$1') ?? plain
    if (key?.toLowerCase() === 'tag') query = refineQuery(query, { tag: value })
    else if (key?.toLowerCase() === 'no' && value.toLowerCase() === 'tag')
      query = refineQuery(query, { isUntagged: true })
    else if (key?.toLowerCase() === 'id')
      query = { ...query, id: BigInt(parseId(value) ?? INT64_MAX + 1n) }
    else words.push(key?.toLowerCase() === 'no' ? `${key}:${value}` : value)
  }
  const name = words.join(' ')
  const id = /name:|"/i.test(text) ? null : parseId(name)
  if (id !== null) query = { ...query, id }
  else if (name !== '') query = { ...query, name }
  if (query.id === undefined) return query
  return query.id < INT64_MIN || query.id > INT64_MAX ? { problem: INT64_RULE } : { id: query.id }
}

const quote = (text: string): string =>
  /^[^\s":\\]+$/.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`

/** The search as text; {@link parseQuery} parses it. */
export function textOf({ id, name, tag, isUntagged }: Query): string {
  if (id !== undefined) return String(id)
  return [
    ...(name === undefined ? [] : [parseId(name) === null ? quote(name) : `name:${quote(name)}`]),
    ...(tag === undefined ? [] : [`tag:${quote(tag)}`]),
    ...(isUntagged ? ['no:tag'] : []),
  ].join(' ')
}

// The limit of the service.
const MAX_WORDS = 10

/** The words of a name, which the service finds in any order; from the tenth on, the words are one. */
const wordsOf = (name: string): readonly string[] => {
  const words = name.split(/\s+/).filter(Boolean)
  const rest = words.slice(MAX_WORDS - 1).join(' ')
  return rest === '' ? words : [...words.slice(0, MAX_WORDS - 1), rest]
}

/** A search as parameters of the service. */
export const listQueryOf = ({ name, tag, isUntagged }: Query): ListQuery => ({
  ...(name === undefined ? {} : { name: wordsOf(name) }),
  ...(tag === undefined ? {} : { tag }),
  ...(isUntagged ? { tagged: false } : {}),
})

// Like the service, ignores case only for A to Z.
const lowerAscii = (text: string): string =>
  text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** True if a search finds all plants. */
export const isEverything = ({ id, name, tag, isUntagged }: Query): boolean =>
  id === undefined && name === undefined && tag === undefined && !isUntagged

/** True if a search finds a plant. */
export const matches = (
  query: Query,
  plant: { readonly id: bigint; readonly name: string; readonly tag?: string | undefined },
): boolean =>
  (query.id === undefined || query.id === plant.id) &&
  (query.tag === undefined || query.tag === plant.tag) &&
  (!query.isUntagged || plant.tag === undefined) &&
  (query.name === undefined ||
    wordsOf(query.name).every((word) => lowerAscii(plant.name).includes(lowerAscii(word))))
