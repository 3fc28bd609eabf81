// The stored plants of a file's ids, read in pages, each at most once.

import { ClientError, type NewPlant } from '../../../client/client.ts'
import { INT64_MAX, INT64_MIN } from '../../../plant/plant.ts'
import type { Session } from '../session.ts'

/** Pages that are read for one file: they hold a million stored plants. */
const MAX_PAGES = 1000
const PAGE = 1000

/** A span of ids whose stored plants were all read. */
type Span = { readonly first: bigint; readonly last: bigint }

const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b))

/** The ids that are in no span. Both ascend. */
function unknownOf(ids: readonly bigint[], spans: readonly Span[]): readonly bigint[] {
  let at = 0
  return ids.filter((id) => {
    for (let span = spans[at]; span && span.last < id; span = spans[at]) at += 1
    const span = spans[at]
    return !span || span.first > id
  })
}

/**
 * The first id of the page to read for an id: the one after the span before it, if their page is likely to have both.
 */
function beginningOf(id: bigint, spans: readonly Span[]): bigint {
  const before = spans.findLast(({ first }) => first <= id)
  if (!before) return id
  const { first, last } = before
  return id - last <= last - first ? last + 1n : id
}

export function createStoredPlants(session: Session) {
  const plants = new Map<bigint, NewPlant>()
  const spans: Span[] = []

  async function readPage(first: bigint): Promise<void> {
    const after = first > INT64_MIN ? first - 1n : undefined
    const page = await session.call((client) => client.listPlants({ after, limit: PAGE }))
    if (!page.ok) throw new ClientError(page)
    for (const plant of page.value.plants) plants.set(plant.id, plant)
    const last = page.value.next === null ? INT64_MAX : (page.value.plants.at(-1)?.id ?? first)
    const place = spans.findIndex((span) => span.first > first)
    spans.splice(place < 0 ? spans.length : place, 0, { first, last })
  }

  return {
    /** Undefined: none is stored, if its id was read. */
    get: (id: bigint): NewPlant | undefined => plants.get(id),

    /** Reads the plants of some ids; resolves to false if they are on too many pages. Throws a ClientError. */
    async read(ids: Iterable<bigint>): Promise<boolean> {
      let rest = unknownOf([...new Set(ids)].sort(ascending), spans)
      for (let [first] = rest; first !== undefined; [first] = rest) {
        if (spans.length === MAX_PAGES) return false
        await readPage(beginningOf(first, spans))
        rest = unknownOf(rest, spans)
      }
      return true
    },
  }
}
