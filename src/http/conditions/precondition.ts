// Reads the conditions of a request: If-Match and If-None-Match (RFC 9110, section 13.1).

import { RequestError } from '../../errors'
import { type EntityTags, type Precondition, restoreTag } from '../../plant/entity-tag'
import type { SentHeaders } from '../elysia'

const ENTITY_TAG = /(?:W\/)?"[!#-~\x80-\xff]*"/g
const WEAK = /^W\//
/** The pattern of a condition, for the description: `*`, or a list of entity tags. Empty elements are accepted too. */
export const CONDITION_PATTERN = `^(\\*|${ENTITY_TAG.source}(\\s*,\\s*${ENTITY_TAG.source})*)$`
// Replaces an entity tag while the rest of a header is checked. No header can contain it.
const PLACEHOLDER = '\0'

function readTags(name: string, text: string): EntityTags {
  if (text === '*') return '*'
  const tags = text.match(ENTITY_TAG) ?? []
  const elements = text.replace(ENTITY_TAG, PLACEHOLDER).split(',')
  // Empty elements of a list are ignored (section 5.6.1.2).
  const isList = elements.every((element) => ['', PLACEHOLDER].includes(element.trim()))
  if (tags.length > 0 && isList) return tags
  throw new RequestError('invalid', `${name}: expected * or entity tags in quotes, such as "xyzzy"`)
}

/**
 * The entity tags of a page's `If-None-Match`, where weak tags compare like strong ones. `invalid`: it is malformed.
 */
export function readIfNoneMatch(text: string): EntityTags {
  const tags = readTags('If-None-Match', text)
  return tags === '*' ? tags : tags.map((tag) => tag.replace(WEAK, ''))
}

// By RFC 9110, section 13.1.1, weak tags fail in If-Match, as one may name several versions. A plant's tag names one
// version: the store sends only strong ones, of the fields alone, whatever the coding.
function readPlantTags(name: string, text: string): EntityTags {
  const tags = readTags(name, text)
  return tags === '*' ? tags : tags.map(restoreTag)
}

/** The conditions of a request for a plant; null if there are none. `invalid`: a header is malformed. */
export function readPrecondition(headers: SentHeaders): Precondition | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (match === undefined && noneMatch === undefined) return null
  return {
    ...(match === undefined ? {} : { ifMatch: readPlantTags('If-Match', match) }),
    ...(noneMatch === undefined ? {} : { ifNoneMatch: readPlantTags('If-None-Match', noneMatch) }),
  }
}
