// The SQL that counts the plants of each tag, by the index of tags.

import type { SQL } from 'bun'
import type { TagPage, TagQuery } from '../../../plant/plants'
import { PAGE_LENGTH, placeAfter } from '../../page'
import { INDEXED_CHARACTERS } from './plants'

const prefixOf = (tag: string) => `left(${tag}, ${INDEXED_CHARACTERS})`
const isCut = (prefix: string) => `char_length(${prefix}) = ${INDEXED_CHARACTERS}`
const isOf = (prefix: string) => `${prefixOf('tag')} = ${prefix}`

// The first tag with the next prefix in the index. A shorter prefix is a whole tag.
const firstOfPrefix = (comparison: string) => `(
  SELECT CASE WHEN ${isCut('prefix')}
    THEN (SELECT min(tag) FROM plants WHERE ${isOf('prefix')}) ELSE prefix END
  FROM (
    SELECT ${prefixOf('tag')} AS prefix FROM plants
    WHERE tag IS NOT NULL AND ${prefixOf('tag')} ${comparison} ORDER BY 1 LIMIT 1
  ) AS next
)`

const FIRST = firstOfPrefix(">= ''")

const nextAfter = (tag: string) => `coalesce(
  CASE WHEN ${isCut(prefixOf(tag))}
    THEN (SELECT min(tag) FROM plants WHERE ${isOf(prefixOf(tag))} AND tag > ${tag}) END,
  ${firstOfPrefix(`> ${prefixOf(tag)}`)}
)`

// $1: the limit; $2: the tag before the page, if there is one. `length`: bytes of the tags before this one. The row
// after the page, whose plants are not counted, shows that there is a next one.
const pageStatement = (first: string) => `
  WITH RECURSIVE found AS (
    SELECT ${first} AS tag, 1::bigint AS place, 0::bigint AS length
    UNION ALL
    SELECT ${nextAfter('found.tag')}, place + 1, length + octet_length(found.tag) FROM found
    WHERE found.tag IS NOT NULL AND place <= $1::bigint AND length <= ${PAGE_LENGTH}
  )
  SELECT tag, CASE WHEN place <= $1::bigint AND length <= ${PAGE_LENGTH} THEN (
    SELECT count(*) FROM plants WHERE ${isOf(prefixOf('found.tag'))} AND plants.tag = found.tag
  ) END AS plants
  FROM found WHERE tag IS NOT NULL ORDER BY place`

const FROM_FIRST = pageStatement(FIRST)
const AFTER = pageStatement(nextAfter('$2::text COLLATE "C"'))

type TagRow = { readonly tag: string; readonly plants: bigint | null }

/** Reads a page of tags; one statement, so as of one moment. */
export async function listTags(sql: SQL, { after = null, limit }: TagQuery): Promise<TagPage> {
  const rows = await (after === null
    ? sql.unsafe<TagRow[]>(FROM_FIRST, [limit])
    : sql.unsafe<TagRow[]>(AFTER, [limit, after]))
  const tags = rows.flatMap(({ tag, plants }) =>
    plants === null ? [] : [{ tag, plants: Number(plants) }],
  )
  const last = tags.at(-1)
  const following = rows[tags.length]
  return { tags, next: last && following ? placeAfter(last.tag, following.tag) : null }
}
