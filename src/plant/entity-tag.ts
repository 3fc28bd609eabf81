// Entity tags of plants (RFC 9110, section 8.8.3), and conditions on them (section 13.1).

import { toJson } from './json'
import type { Plant } from './plant'

// A prefix of a SHA-256 in base64url: 132 bits.
const ETAG_CHARACTERS = 22
// nginx and HAProxy make the tags of compressed answers weak; Apache, Caddy and lighttpd append the coding.
const CHANGED_BY_PROXY = /^(?:W\/)?"([\w-]{22})(?:-(?:gzip|br|zstd|deflate))?"$/

/** The entity tags of a condition; '*' matches any. */
export type EntityTags = '*' | readonly string[]

/** The conditions on the stored plant for a request. */
export type Precondition = {
  readonly ifMatch?: EntityTags | undefined
  readonly ifNoneMatch?: EntityTags | undefined
}

/** A plant as it is sent, and its {@link entityTagOf | entity tag}. */
export function represent(plant: Plant) {
  const json = JSON.stringify(toJson(plant))
  return { json, etag: `"${Bun.SHA256.hash(json, 'base64url').slice(0, ETAG_CHARACTERS)}"` }
}

/**
 * The strong entity tag of a plant, with quotes: the same for the same fields, on every engine and after a restore. A
 * text that the plant lacks is no part of it, so a new optional field changes no tag.
 */
export const entityTagOf = (plant: Plant): string => represent(plant).etag

/** The store's entity tag, restored from one that a compressing proxy has changed; any other tag unchanged. */
export const restoreTag = (etag: string): string => etag.replace(CHANGED_BY_PROXY, '"$1"')

/** True if a condition names an entity tag. */
export const isAmong = (etags: EntityTags, etag: string): boolean =>
  etags === '*' || etags.includes(etag)

/** True if a stored plant meets a precondition (RFC 9110, section 13.2.2). */
export function holds({ ifMatch, ifNoneMatch }: Precondition, plant: Plant): boolean {
  const etag = entityTagOf(plant)
  return isAmong(ifMatch ?? '*', etag) && !isAmong(ifNoneMatch ?? [], etag)
}
