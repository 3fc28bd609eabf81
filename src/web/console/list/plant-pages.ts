// Reads pages of the plants that match a query, in the order of ids, either way.

import {
  ClientError,
  ERRORS,
  type ListQuery,
  type NewPlant,
  type PlantPage,
  type Result,
} from '../../../client/client.ts'
import { listQueryOf, type Query } from '../query.ts'
import type { Session } from '../session.ts'

/** The start of a page: the `next` of the one before it; null for the first plant. */
export type Cursor = string | null

/** Maximum number of plants per page. */
export const PAGE_PLANTS = 1000

/** The plant with an id as a page, which is empty if there is none. */
async function readOne(
  session: Session,
  id: bigint,
  signal: AbortSignal | undefined,
): Promise<Result<PlantPage>> {
  const result = await session.persist((client) => client.readPlant(id, { signal }), signal)
  if (result.ok) return { ok: true, value: { plants: [result.value], next: null } }
  if (result.error !== ERRORS['no such plant']) return result
  return { ok: true, value: { plants: [], next: null } }
}

/** A page from a cursor on. */
export function readPage(
  session: Session,
  query: Query,
  isDescending: boolean,
  after: Cursor,
  limit: number,
  signal?: AbortSignal,
): Promise<Result<PlantPage>> {
  if (query.id !== undefined) return readOne(session, query.id, signal)
  const page: ListQuery = {
    limit,
    ...(after === null ? {} : { after }),
    ...(isDescending ? { order: 'desc' } : {}),
    ...listQueryOf(query),
  }
  return session.persist((client) => client.listPlants(page, { signal }), signal)
}

/** Every plant, a page at a time. Throws a ClientError. */
export async function* readPages(
  session: Session,
  query: Query,
  isDescending: boolean,
  signal?: AbortSignal,
): AsyncGenerator<readonly NewPlant[], void, void> {
  let cursor: Cursor = null
  do {
    const page = await readPage(session, query, isDescending, cursor, PAGE_PLANTS, signal)
    if (!page.ok) throw new ClientError(page)
    yield page.value.plants
    cursor = page.value.next
  } while (cursor !== null)
}
