// A console's list of a real daemon's plants, for tests.
import { spyOn } from 'bun:test'
import { PlantList } from '../../../src/web/console/list/plant-list'
import type { Query } from '../../../src/web/console/query'
import { Session } from '../../../src/web/console/session'
import { BY_ID, type Sort } from '../../../src/web/console/sort'
import { type Daemon, TOKEN } from '../../harness/daemon'

/** Returns `count` plants with ascending ids, the first of them `first`. */
export const numbered = (first: number, count: number, name = 'Moss') =>
  Array.from({ length: count }, (_, at) => ({ id: BigInt(first + at), name: `${name} ${at}` }))

/** Returns the paths, with queries, of the requests that an action sends to a daemon. */
export async function requestsOf(of: Daemon, act: () => Promise<unknown>): Promise<string[]> {
  using fetched = spyOn(globalThis, 'fetch')
  await act()
  return fetched.mock.calls
    .map(([url]) => String(url))
    .filter((url) => url.startsWith(of.url))
    .map((url) => url.slice(of.url.length))
}

/** Holds back the response to the next request, which the service carries out, until `release` is called. */
export function holdNextAnswer() {
  const { fetch } = globalThis
  const answered = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const spy = spyOn(globalThis, 'fetch').mockImplementationOnce((async (
    ...request: Parameters<typeof fetch>
  ) => {
    const response = await fetch(...request)
    answered.resolve()
    await gate.promise
    return response
  }) as typeof fetch)
  return {
    answered: answered.promise,
    release: gate.resolve,
    [Symbol.dispose]: () => spy.mockRestore(),
  }
}

type Options = {
  readonly token?: string
  readonly query?: Query
  readonly sort?: Sort
  /** The number of plants according to the status; undefined before the status is read. */
  readonly stored?: number | undefined
}

/** Opens the list of a console that is connected to a daemon, and records its messages. */
export async function openList(of: Daemon, options: Options = {}) {
  const { token = TOKEN, query = {}, sort = BY_ID, stored } = options
  const session = new Session(new URL(`${of.url}/`))
  await session.connect(token)
  const said: string[] = []
  const views: string[] = []
  const list = new PlantList(
    session,
    (text) => said.push(text),
    ({ sort: { by, isDescending } }) => views.push(`${isDescending ? '-' : ''}${by}`),
  )
  const isAddress = query.name !== undefined || query.isUntagged
  if (isAddress) list.setStoredCount(stored)
  await list.open({ query, sort })
  if (stored !== undefined) list.setStoredCount(stored)
  return {
    session,
    list,
    said,
    views,
    names: () => list.rows.heldPlants().map(({ name }) => name),
  }
}
