// The stored plants of a file's ids, read in pages, each at most once.

import { ClientError, type NewPlant } from '../../../client/client.ts'
import { INT64_MAX, INT64_MIN } from '../../../plant/plant.ts'
import type { Session } from '../session.ts'

/** Pages that are read for one file: they hold a million stored plants. */
const MAX_PAGES = 1000
const PAGE_PLANTS = 1000

/** A span of ids whose stored plants were all read. */
type Span = { readonly first: bigint; readonly last: bigint }

const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b))

/** The ids that are in no span. Ids and spans ascend. */
function unreadIds(ids: readonly bigint[], spans: readonly Span[]): readonly bigint[] {
  let index = 0
  return ids.filter((id) => {
    for (let span = spans[index]; span && span.last < id; span = spans[index]) index += 1
    const span = spans[index]
    return !span || span.first > id
  })
}

/**
 * The first id of the page to read for an id: directly after the previous span, if a page from there is likely to reach it.
 */
function firstIdOfPage(id: bigint, spans: readonly Span[]): bigint {
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
    const page = await session.persist((client) => client.listPlants({ after, limit: PAGE_PLANTS }))
    if (!page.ok) throw new ClientError(page)
    for (const plant of page.value.plants) plants.set(plant.id, plant)
    const last = page.value.next === null ? INT64_MAX : (page.value.plants.at(-1)?.id ?? first)
    const index = spans.findIndex((span) => span.first > first)
    spans.splice(index < 0 ? spans.length : index, 0, { first, last })
  }

  return {
    /** A plant whose id was read, or undefined if it is not stored. */
    get: (id: bigint): NewPlant | undefined => plants.get(id),

    /** Reads the plants of some ids; resolves to false if they are on too many pages. Throws a ClientError. */
    async read(ids: Iterable<bigint>): Promise<boolean> {
      let rest = unreadIds([...new Set(ids)].sort(ascending), spans)
      for (let [first] = rest; first !== undefined; [first] = rest) {
        if (spans.length === MAX_PAGES) return false
        await readPage(firstIdOfPage(first, spans))
        rest = unreadIds(rest, spans)
      }
      return true
    },
  }
}
