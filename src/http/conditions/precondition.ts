// Reads the conditions of a request: If-Match and If-None-Match (RFC 9110, section 13.1).

import { type EntityTags, type Precondition, restoreTag } from '../../plant/entity-tag'
import { RequestError } from '../../request-errors'
import type { SentHeaders } from '../elysia'

const ENTITY_TAG = /(?:W\/)?"[!#-~\x80-\xff]*"/g
const ETAG = ENTITY_TAG.source
/** The pattern of a condition, for the description: `*`, or a list of entity tags. Empty elements are accepted too. */
export const CONDITION_PATTERN = `^(\\*|${ETAG}(\\s*,\\s*${ETAG})*)$`
// Empty elements of a list are ignored (section 5.6.1.2).
const LIST = new RegExp(`^[\\s,]*${ETAG}(\\s*,[\\s,]*${ETAG})*[\\s,]*$`)

// By RFC 9110, section 13.1.1, weak tags fail in If-Match, as one may name several versions. A plant's tag names one
// version: the store sends only strong ones, of the fields alone, whatever the coding.
function readEtags(name: string, text: string | undefined): EntityTags | undefined {
  if (text === undefined || text === '*') return text
  if (LIST.test(text)) return (text.match(ENTITY_TAG) ?? []).map(restoreTag)
  throw new RequestError('invalid', `${name}: expected * or entity tags in quotes, such as "xyzzy"`)
}

/** The conditions of a request for a plant; null if there are none. `invalid`: a header is malformed. */
export function readPrecondition(headers: SentHeaders): Precondition | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (match === undefined && noneMatch === undefined) return null
  return {
    ifMatch: readEtags('If-Match', match),
    ifNoneMatch: readEtags('If-None-Match', noneMatch),
  }
}
