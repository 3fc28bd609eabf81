// The comparison of a file with the stored plants: its counts, and the pages it reads.
import { expect, test } from 'bun:test'
import type { RowUpdate } from '../../../src/formats/row-update'
import { createComparison } from '../../../src/web/console/import/compare'
import type { Session } from '../../../src/web/console/session'
import { ownDaemon } from '../../harness/own-daemon'
import { openList, requestsOf } from './opened-list'

const { daemon, createPlants } = ownDaemon()
const STORED = 5000
const GROUP = 1000

const plantOf = (id: number) => ({ id: BigInt(id), name: `plant ${id}`, tag: null })

async function compareAll(session: Session, plants: readonly RowUpdate[]) {
  const compare = createComparison(session)
  let sums = await compare([])
  for (let at = 0; at < plants.length; at += GROUP)
    sums = await compare(plants.slice(at, at + GROUP))
  return sums
}

test('each stored plant is read about once, in any order of the file', async () => {
  const { session } = await openList(daemon)
  const ascending = Array.from({ length: STORED }, (_, at) => plantOf(2 * at))
  await createPlants(ascending.map(({ id, name }) => ({ id, name })))
  // Visits every plant once, with neighbours far apart.
  const mixed = ascending.map((_, at) => ascending[(at * 3889) % STORED] ?? plantOf(1))
  const others = [plantOf(-1), plantOf(1), plantOf(3 * STORED), { id: 4n, name: 'other' }]

  const pagesOf = (plants: readonly RowUpdate[], counts: object) =>
    requestsOf(daemon, async () =>
      expect(await compareAll(session, plants)).toMatchObject({ ...counts, unchanged: STORED }),
    )
  expect((await pagesOf(ascending, { created: 0, differing: 0 })).length).toBeLessThanOrEqual(6)
  const all = [...mixed, ...others]
  expect((await pagesOf(all, { created: 3, differing: 1 })).length).toBeLessThanOrEqual(8)
})

test('a repeated id is counted, however far apart', async () => {
  const { session } = await openList(daemon)
  const fresh = Array.from({ length: 2 * GROUP }, (_, at) => plantOf(100_000 + at))
  const again = [plantOf(100_000), { id: 100_001n, name: 'other' }]

  expect(await compareAll(session, [...fresh, ...again])).toMatchObject({
    created: 2 * GROUP,
    differing: 1,
    unchanged: 1,
  })
})

test('a field without a column in the file is not a difference', async () => {
  const { session } = await openList(daemon)
  await daemon.create('{"id":-5,"name":"Fern","tag":"shade"}')
  await daemon.create('{"id":-4,"name":"Ivy","tag":"shade"}')
  const plants = [
    { id: -5n, name: 'Fern' },
    { id: -4n, name: 'Hedera' },
  ]
  const compare = createComparison(session)

  expect(await compare(plants)).toMatchObject({
    unchanged: 1,
    differences: [
      {
        before: { id: -4n, name: 'Ivy', tag: 'shade' },
        after: { id: -4n, name: 'Hedera', tag: 'shade' },
      },
    ],
  })
})

test('a comparison fails if it needs too many pages, or cannot read one', async () => {
  const { session } = await openList(daemon)
  const pageOf = (plants: readonly { id: bigint; name: string }[]) =>
    ({ ok: true, value: { plants, next: 'more' } }) as never
  // A store that has a plant at each requested id, and more after that.
  let id = 0n
  session.persist = async () => pageOf([{ id: id++, name: 'a' }])
  const far = Array.from({ length: 1001 }, (_, at) => plantOf(at))
  expect(await compareAll(session, far.slice(0, 1000))).toMatchObject({ differing: 1000 })
  id = 0n
  expect(await compareAll(session, far)).toBe('failed')

  session.persist = async () => ({ ok: false, error: 0, status: 0, message: 'no answer' }) as never
  expect(await compareAll(session, far)).toBe('failed')
})
