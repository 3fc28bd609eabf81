// The SQL that counts the plants of each tag, in the order of the index of tags.

import type { SQL } from 'bun'
import type { TagPage, TagQuery } from '../../../plant/plants'
import { PAGE_LENGTH, placeAfter } from '../../page'
import { INDEXED_CHARACTERS } from './plants'

const PREFIX = `left(tag, ${INDEXED_CHARACTERS})`

// $1: the limit; $2: the tag before the page, if there is one. `length`: bytes of the tags before this one. The server
// cuts a page that is too long, and sends the row after it, which shows that there is a next one.
const PAGE = `
  SELECT tag, plants, length FROM (
    SELECT tag, plants, sum(octet_length(tag)) OVER (tags ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS length,
      sum(octet_length(tag)) OVER (tags ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS earlier
    FROM (
      SELECT tag, count(*) AS plants FROM plants
      WHERE tag IS NOT NULL AND ${PREFIX} >= left(coalesce($2::text, ''), ${INDEXED_CHARACTERS})
        AND ($2::text IS NULL OR tag > $2::text)
      GROUP BY ${PREFIX}, tag ORDER BY ${PREFIX}, tag LIMIT $1::bigint + 1
    ) AS counted WINDOW tags AS (ORDER BY tag)
  ) AS measured WHERE coalesce(earlier, 0) <= ${PAGE_LENGTH} ORDER BY tag`

type TagRow = { readonly tag: string; readonly plants: bigint; readonly length: bigint | null }

/** Reads a page of tags; one statement, so as of one moment. */
export async function listTags(sql: SQL, { after = null, limit }: TagQuery): Promise<TagPage> {
  const rows = await sql.unsafe<TagRow[]>(PAGE, [limit, after])
  const tags = rows
    .slice(0, limit)
    .filter(({ length }) => Number(length ?? 0) <= PAGE_LENGTH)
    .map(({ tag, plants }) => ({ tag, plants: Number(plants) }))
  const last = tags.at(-1)
  const following = rows[tags.length]
  return { tags, next: last && following ? placeAfter(last.tag, following.tag) : null }
}
