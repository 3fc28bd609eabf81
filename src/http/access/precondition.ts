// Reads the conditions of a request: If-Match and If-None-Match (RFC 9110, section 13.1).

import { ApiError } from '../../errors'
import { type EntityTags, type Precondition, restoreTag } from '../../plant/entity-tag'

const ENTITY_TAG = /(?:W\/)?"[!#-~\x80-\xff]*"/g
const WEAK = /^W\//
/** The pattern of a condition, for the description: `*`, or a list of entity tags. Empty elements are accepted too. */
export const CONDITION_PATTERN = `^(\\*|${ENTITY_TAG.source}(\\s*,\\s*${ENTITY_TAG.source})*)$`
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

/** The entity tags of an `If-None-Match` of a page, where weak tags are compared like strong ones. 40002: it is malformed. */
export function readIfNoneMatch(text: string): EntityTags {
  const tags = readTags('If-None-Match', text)
  return tags === '*' ? tags : tags.map((tag) => tag.replace(WEAK, ''))
}

// RFC 9110, section 13.1.1, wants weak tags to fail in If-Match, as a weak tag may name several versions. One of a plant
// names one: the store sends none but strong ones, of the fields alone, whatever the coding.
function readPlantTags(name: string, text: string): EntityTags {
  const tags = readTags(name, text)
  return tags === '*' ? tags : tags.map(restoreTag)
}

/** The conditions of a request for a plant; null if it has none. 40002: a header is malformed. */
export function readPrecondition(headers: SentHeaders): Precondition | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (match === undefined && noneMatch === undefined) return null
  return {
    ...(match === undefined ? {} : { ifMatch: readPlantTags('If-Match', match) }),
    ...(noneMatch === undefined ? {} : { ifNoneMatch: readPlantTags('If-None-Match', noneMatch) }),
  }
}
