// Reads the conditions of a request: If-Match and If-None-Match (RFC 9110, section 13.1).

import { ApiError } from '../../errors'
import type { EntityTags, Precondition } from '../../plant/entity-tag'

const ENTITY_TAG = /(?:W\/)?"[!#-~\x80-\xff]*"/g
const WEAK = /^W\//
// Stands for an entity tag, so that the rest of a header can be checked. No header can contain it.
const PLACEHOLDER = '\0'

/** The headers of a request, as Elysia gives them: names in lower case. */
export type SentHeaders = Readonly<Record<string, string | undefined>>

function readTags(name: string, text: string): EntityTags {
  const trimmed = text.trim()
  if (trimmed === '*') return '*'
  const tags = trimmed.match(ENTITY_TAG) ?? []
  const elements = trimmed.replace(ENTITY_TAG, PLACEHOLDER).split(',')
  // Empty elements of a list are ignored (section 5.6.1.2).
  const isList = elements.every((element) => ['', PLACEHOLDER].includes(element.trim()))
  if (tags.length > 0 && isList) return tags
  throw new ApiError(40002, `${name}: expected * or entity tags in quotes, such as "xyzzy"`)
}

// A weak tag never satisfies If-Match (section 8.8.3.2).
function readIfMatch(text: string): EntityTags {
  const tags = readTags('If-Match', text)
  return tags === '*' ? tags : tags.filter((tag) => !WEAK.test(tag))
}

/** The entity tags of an `If-None-Match`, which compares weak tags like strong ones. 40002: it is malformed. */
export function readIfNoneMatch(text: string): EntityTags {
  const tags = readTags('If-None-Match', text)
  return tags === '*' ? tags : tags.map((tag) => tag.replace(WEAK, ''))
}

/** The conditions of a request; null if it has none. 40002: a header is malformed. */
export function readPrecondition(headers: SentHeaders): Precondition | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (match === undefined && noneMatch === undefined) return null
  return {
    ...(match === undefined ? {} : { ifMatch: readIfMatch(match) }),
    ...(noneMatch === undefined ? {} : { ifNoneMatch: readIfNoneMatch(noneMatch) }),
  }
}
