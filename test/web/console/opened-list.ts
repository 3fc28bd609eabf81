// The plants of a daemon in a list of the console, for the tests of actions on many.
import { spyOn } from 'bun:test'
import { PlantList } from '../../../src/web/console/list/plant-list'
import { Session } from '../../../src/web/console/session'
import { BY_ID } from '../../../src/web/console/sort'
import { type Daemon, TOKEN } from '../../harness/daemon'

/** Plants with ids from `first` on. */
export const numbered = (first: number, count: number, name = 'Moss') =>
  Array.from({ length: count }, (_, at) => ({ id: BigInt(first + at), name: `${name} ${at}` }))

/** Creates plants, one request each. */
export async function create(of: Daemon, plants: ReturnType<typeof numbered>): Promise<void> {
  for (const { id, name } of plants) await of.create(`{"id":${id},"name":"${name}"}`)
}

/** Holds back the answer to the next request, which the service carries out; `release` lets it arrive. */
export function holdNextAnswer() {
  const { fetch } = globalThis
  const answered = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const spy = spyOn(globalThis, 'fetch').mockImplementationOnce((async (
    ...request: Parameters<typeof fetch>
  ) => {
    const answer = await fetch(...request)
    answered.resolve()
    await gate.promise
    return answer
  }) as typeof fetch)
  return {
    answered: answered.promise,
    release: gate.resolve,
    [Symbol.dispose]: () => spy.mockRestore(),
  }
}

export type OpenedList = Awaited<ReturnType<typeof openList>>

export async function openList(of: Daemon, token = TOKEN) {
  const session = new Session(new URL(`${of.url}/`))
  await session.connect(token)
  const list = new PlantList(
    session,
    () => {},
    () => {},
  )
  await list.open({ query: {}, sort: BY_ID })
  return { session, list }
}
