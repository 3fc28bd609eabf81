// Which plants are looked for: in words, as the search box and the address have them.

import { INT64_RULE, parseId } from './field-errors.ts'

/** What the plants have to be: the one with an id, those whose names contain a text, those with a tag. */
export type Query = {
  readonly id?: bigint
  readonly name?: string
  readonly tag?: string
}

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n
const TERM = /(?:(id|name|tag):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/gis

/** Reads a search: an integer is an id, `tag:aroid` a tag, anything else a part of a name. Or says what is wrong with it. */
export function parseQuery(text: string): Query | { readonly problem: string } {
  const words: string[] = []
  let query: Query = {}
  for (const [, key, quoted, plain = ''] of text.matchAll(TERM)) {
    const value = quoted?.replace(/\\(.)/gs, '$1') ?? plain
    if (key?.toLowerCase() === 'tag') query = { ...query, tag: value }
    else if (key?.toLowerCase() === 'id')
      query = { ...query, id: BigInt(parseId(value) ?? MAX + 1n) }
    else words.push(value)
  }
  const name = words.join(' ')
  const id = /name:|"/i.test(text) ? null : parseId(name)
  if (id !== null) query = { ...query, id }
  else if (name !== '') query = { ...query, name }
  if (query.id === undefined) return query
  return query.id < MIN || query.id > MAX ? { problem: INT64_RULE } : { id: query.id }
}

const quote = (text: string): string =>
  /^[^\s":\\]+$/.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`

/** The search in words; {@link parseQuery} reads it. */
export function textOf({ id, name, tag }: Query): string {
  if (id !== undefined) return String(id)
  return [
    ...(name === undefined ? [] : [parseId(name) === null ? quote(name) : `name:${quote(name)}`]),
    ...(tag === undefined ? [] : [`tag:${quote(tag)}`]),
  ].join(' ')
}

// As the service does: of A to Z the case is ignored.
const folded = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** True if a plant is among those that are looked for. */
export const matches = (
  query: Query,
  plant: { readonly id: bigint; readonly name: string; readonly tag?: string | undefined },
): boolean =>
  (query.id === undefined || query.id === plant.id) &&
  (query.tag === undefined || query.tag === plant.tag) &&
  (query.name === undefined || folded(plant.name).includes(folded(query.name)))
