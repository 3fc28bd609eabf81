// What a client requires of the plant as it is stored: If-Match and If-None-Match (RFC 9110, section 13.1).

import type { Precondition } from '../entity-tag'
import { PlantError } from '../errors'

const ENTITY_TAG = /(?:W\/)?"[!#-~\x80-\xff]*"/g
const WEAK = 'W/'
// No header has it: it stands for an entity tag, so that what is between them is seen.
const PLACE = '\0'

type Headers = Readonly<Record<string, string | undefined>>

function readTags(name: string, text: string): '*' | readonly string[] {
  const trimmed = text.trim()
  if (trimmed === '*') return '*'
  const tags = trimmed.match(ENTITY_TAG) ?? []
  // Empty elements of a list are ignored (section 5.6.1.2).
  const between = trimmed.replace(ENTITY_TAG, PLACE).split(',')
  const isList = between.every((part) => ['', PLACE].includes(part.trim()))
  if (tags.length > 0 && isList) return tags
  throw new PlantError(40002, `${name}: expected * or entity tags in quotes, such as "xyzzy"`)
}

// A weak tag is never what If-Match requires, but may be what If-None-Match excludes (section 8.8.3.2).
const strongOf = (tags: '*' | readonly string[]) =>
  tags === '*' ? tags : tags.filter((tag) => !tag.startsWith(WEAK))
const opaqueOf = (tags: '*' | readonly string[]) =>
  tags === '*' ? tags : tags.map((tag) => (tag.startsWith(WEAK) ? tag.slice(WEAK.length) : tag))

/** What a request requires; null where it requires nothing. Throws 40002 where a header is malformed. */
export function readPrecondition(headers: Headers): Precondition | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (match === undefined && noneMatch === undefined) return null
  return {
    ...(match === undefined ? {} : { ifMatch: strongOf(readTags('If-Match', match)) }),
    ...(noneMatch === undefined
      ? {}
      : { ifNoneMatch: opaqueOf(readTags('If-None-Match', noneMatch)) }),
  }
}
