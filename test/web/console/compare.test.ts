// A file beside the stored plants: the counts, and the pages that they take.
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { RowUpdate } from '../../../src/formats/row-update'
import { createComparison } from '../../../src/web/console/import/compare'
import { Session } from '../../../src/web/console/session'
import { PATIENCE_MS, TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'

setDefaultTimeout(PATIENCE_MS)

const { daemon } = ownDaemon()
const STORED = 5000
const GROUP = 1000

const plantOf = (id: number): RowUpdate => ({ id: BigInt(id), name: `plant ${id}`, tag: null })

/** A connected session that counts its calls. */
async function start() {
  const session = new Session(new URL(`${daemon.url}/`))
  await session.connect(TOKEN)
  const persist = session.persist.bind(session)
  const counted = { session, calls: 0 }
  session.persist = (make) => {
    counted.calls += 1
    return persist(make)
  }
  return counted
}

async function compareAll(session: Session, plants: readonly RowUpdate[]) {
  const compare = createComparison(session)
  let sums = await compare([])
  for (let at = 0; at < plants.length; at += GROUP)
    sums = await compare(plants.slice(at, at + GROUP))
  return sums
}

test('reads each stored plant about once, in whatever order the file has them', async () => {
  for (let first = 0; first < STORED; first += GROUP) {
    const plants = Array.from({ length: GROUP }, (_, at) => plantOf(2 * (first + at)))
    const json = { plants: plants.map(({ id, name }) => ({ id: Number(id), name })) }
    expect((await daemon.fetch('/plants/batch', { json })).status).toBe(200)
  }
  const counted = await start()
  const ascending = Array.from({ length: STORED }, (_, at) => plantOf(2 * at))
  // Far from each other, in an order that goes through all of them.
  const mixed = ascending.map((_, at) => ascending[(at * 3889) % STORED] ?? plantOf(1))
  const others = [plantOf(-1), plantOf(1), plantOf(3 * STORED), { id: 4n, name: 'other' }]

  expect(await compareAll(counted.session, ascending)).toMatchObject({
    created: 0,
    differing: 0,
    unchanged: STORED,
  })
  expect(counted.calls).toBeLessThanOrEqual(6)
  counted.calls = 0
  expect(await compareAll(counted.session, [...mixed, ...others])).toMatchObject({
    created: 3,
    differing: 1,
    unchanged: STORED,
  })
  expect(counted.calls).toBeLessThanOrEqual(8)
})

test('counts a repeated id, however far apart', async () => {
  const { session } = await start()
  const fresh = Array.from({ length: 2 * GROUP }, (_, at) => plantOf(100_000 + at))
  const again = [plantOf(100_000), { id: 100_001n, name: 'other' }]

  expect(await compareAll(session, [...fresh, ...again])).toMatchObject({
    created: 2 * GROUP,
    differing: 1,
    unchanged: 1,
  })
})

test('a field without a column in the file is no difference', async () => {
  const { session } = await start()
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

test('has no counts of too many pages, or if none can be read', async () => {
  const { session } = await start()
  const pageOf = (plants: readonly { id: bigint; name: string }[]) =>
    ({ ok: true, value: { plants, next: 'more' } }) as never
  // A store with a plant at each id that is asked for, and more after it.
  let id = 0n
  session.persist = async () => pageOf([{ id: id++, name: 'a' }])
  const far = Array.from({ length: 1001 }, (_, at) => plantOf(at))
  expect(await compareAll(session, far.slice(0, 1000))).toMatchObject({ differing: 1000 })
  id = 0n
  expect(await compareAll(session, far)).toBe('failed')

  session.persist = async () => ({ ok: false, error: 0, status: 0, message: 'no answer' }) as never
  expect(await compareAll(session, far)).toBe('failed')
})
