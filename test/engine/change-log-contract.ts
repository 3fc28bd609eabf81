import { expect } from 'bun:test'
import type { ChangeLog, ChangeLogEntry, KeepChanges } from '../../src/change-log/change-log'
import type { Plant, PlantFields } from '../../src/plant/plant'
import type { Store } from '../../src/store'
import { createContract } from '../harness/contract'
import { PATIENCE_MS } from '../harness/daemon'
import { allPlants, expectRefusal, range } from '../harness/tested-store'
import { until } from '../harness/until'

/** A database of one engine, empty at first. Disposing of it closes its stores. */
export type ChangeLogDatabase = AsyncDisposable & {
  /** Closes the store of a daemon, if one is open, and opens one. */
  open(keep: KeepChanges): Promise<Store>
  /** Opens a store like a command, beside the daemon. */
  openForCommand(): Promise<Store>
  /**
   * Closes the store and copies the database. Returns a function that puts the copy in its place, once the store is
   * closed.
   */
  copy(): Promise<() => Promise<void>>
}

const DAY_MS = 86_400_000
const origin = { token: 'gardener', address: '127.0.0.1', request: 'r-1' }

function changeLogOf({ changeLog }: Store): ChangeLog {
  if (!changeLog) throw new Error('no change log is kept')
  return changeLog
}

/** Every entry after a cursor. */
export async function follow(
  store: Store,
  after?: string,
  limit = 1000,
): Promise<ChangeLogEntry[]> {
  const found: ChangeLogEntry[] = []
  let from = after
  for (;;) {
    const { entries, next } = await changeLogOf(store).read(
      from === undefined ? { limit } : { after: from, limit },
    )
    found.push(...entries)
    if (entries.length === 0) return found
    expect(entries.at(-1)?.cursor).toBe(next)
    from = next
  }
}

const end = async (store: Store) => (await changeLogOf(store).read({ after: 'now', limit: 1 })).next

/** Resolves once all entries are removed. */
const untilEmpty = (store: Store) =>
  until('an empty change log', async () => (await changeLogOf(store).stats()).entries === 0)

/** The plants that entries make of an empty store; each must start from the result of the previous one. */
export function replay(entries: readonly ChangeLogEntry[]): Plant[] {
  const plants = new Map<bigint, PlantFields>()
  for (const { id, before, after } of entries) {
    expect(plants.get(id) ?? null).toEqual(before)
    if (after) plants.set(id, after)
    else plants.delete(id)
  }
  return [...plants].map(([id, plant]) => ({ id, ...plant })).sort((a, b) => (a.id < b.id ? -1 : 1))
}

const brief = ({ action, id, before, after }: ChangeLogEntry) => [action, id, before, after]

const contract = createContract<ChangeLogDatabase>()
const { test } = contract

/** The contract of a `ChangeLog`, for an engine whose empty databases `make` makes. */
export const testChangeLog = (name: string, make: () => Promise<ChangeLogDatabase>): void =>
  contract.run(`the change log in ${name}`, make)

/** Adds a test of a store that keeps a change log. */
const testKept = (
  title: string,
  run: (store: Store, database: ChangeLogDatabase) => Promise<void>,
): void => test(title, async (database) => run(await database.open(DAY_MS), database))

test('the change log is off by default', async (database) => {
  expect((await database.open(null)).changeLog).toBeUndefined()
  expect((await database.open('off')).changeLog).toBeUndefined()
})

testKept(
  'the change log has each effective change, in order, with the old values and the author',
  async (store) => {
    const began = Date.now()
    await store.createPlant({ id: 9007199254740993n, name: 'Rose', tag: 'shrub' }, { origin })
    await store.createPlants([...range(1, 2), { id: -5n, name: '🌵"\\', tag: '' }], { origin })
    await store.replacePlant({ id: 1n, name: 'Oak' })
    await store.patchPlant(1n, { tag: 'tree' }, { origin })
    await store.patchPlant(1n, { tag: null })
    await store.deletePlant(2n, { origin })

    const entries = await follow(store)
    expect(entries.map(brief)).toEqual([
      ['create', 9007199254740993n, null, { name: 'Rose', tag: 'shrub' }],
      ['create', 1n, null, { name: 'n0' }],
      ['create', 2n, null, { name: 'n1' }],
      ['create', -5n, null, { name: '🌵"\\', tag: '' }],
      ['replace', 1n, { name: 'n0' }, { name: 'Oak' }],
      ['patch', 1n, { name: 'Oak' }, { name: 'Oak', tag: 'tree' }],
      ['patch', 1n, { name: 'Oak', tag: 'tree' }, { name: 'Oak' }],
      ['delete', 2n, { name: 'n1' }, null],
    ])
    expect(entries.map(({ request }) => request)).toEqual([
      'r-1',
      'r-1',
      'r-1',
      'r-1',
      null,
      'r-1',
      null,
      'r-1',
    ])
    expect(entries[0]).toMatchObject(origin)
    for (const { at } of entries) {
      expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(Math.abs(Date.parse(at) - began)).toBeLessThan(PATIENCE_MS)
    }
  },
)

testKept('the change log has creates of one commit in the order of the calls', async (store) => {
  await Promise.all([3n, 1n, 2n].map((id) => store.createPlant({ id, name: 'Rose' })))

  expect((await follow(store)).map(({ id }) => id)).toEqual([3n, 1n, 2n])
})

testKept('a batch of puts adds only the plants that it created or replaced', async (store) => {
  await store.createPlants(range(1, 3))
  const before = await end(store)
  const put = [...range(1, 2), { id: 3n, name: 'Oak', tag: 'tree' }, { id: -7n, name: 'Elm' }]

  expect(await store.putPlants(put, { origin })).toMatchObject({ unchanged: 2 })
  const entries = await follow(store, before)
  expect(entries.map(brief)).toEqual([
    ['replace', 3n, { name: 'n2' }, { name: 'Oak', tag: 'tree' }],
    ['create', -7n, null, { name: 'Elm' }],
  ])
  for (const entry of entries) expect(entry).toMatchObject(origin)
  const after = await end(store)
  expect(await store.putPlants(put)).toEqual({ created: 0, replaced: 0, unchanged: 4 })
  expect(await end(store)).toBe(after)
  expect(replay(await follow(store))).toEqual(await allPlants(store))
})

testKept('a batch of deletes adds only the plants that it removed', async (store) => {
  await store.createPlants(range(1, 3))
  const before = await end(store)
  const sent = [...range(1, 1), { id: 2n, name: 'other' }, { id: 3n, name: 'n2' }, ...range(4, 1)]

  expect(await store.deletePlants(sent, { origin })).toEqual({
    deleted: 2,
    conflicts: [2n],
    missing: [4n],
  })
  const entries = await follow(store, before)
  expect(entries.map(brief)).toEqual([
    ['delete', 1n, { name: 'n0' }, null],
    ['delete', 3n, { name: 'n2' }, null],
  ])
  for (const entry of entries) expect(entry).toMatchObject(origin)
  const after = await end(store)
  expect(await store.deletePlants(sent)).toMatchObject({ deleted: 0 })
  expect(await end(store)).toBe(after)
  expect(replay(await follow(store))).toEqual(await allPlants(store))
})

testKept('a replay of changes that share commits yields the stored plants', async (store) => {
  const ids = range(1, 20).map(({ id }) => id)
  let done = 0
  const attempts = Array.from({ length: 600 }, (_, index) => {
    const id = ids[(index * 7) % ids.length] ?? 0n
    const kind = (index + Math.floor(index / ids.length)) % 5
    const plant = { id, name: `v${index}` }
    if (kind < 2) return store.createPlant(plant)
    if (kind === 2) return store.deletePlant(id)
    if (kind === 3) return store.patchPlant(id, { tag: `t${index}` })
    return store.createPlants([plant, ...range(1000 + index, 1)])
  })
  for (const result of await Promise.allSettled<unknown>(attempts))
    if (result.status === 'fulfilled') done += 1
  const batches = (await allPlants(store)).filter(({ id }) => id >= 1000n).length

  const entries = await follow(store, undefined, 7)
  expect(done).toBeGreaterThan(100)
  expect(entries).toHaveLength(done + batches)
  expect(replay(entries)).toEqual(await allPlants(store))
  expect(await changeLogOf(store).stats()).toMatchObject({ entries: entries.length })
})

testKept(
  'the history of one plant is listed from the newest, page by page, even if it is gone',
  async (store) => {
    await store.createPlants(range(1, 3))
    for (let version = 1; version <= 4; version++) {
      await store.patchPlant(2n, { name: `v${version}` })
      await store.patchPlant(3n, { name: `v${version}` })
    }
    await store.deletePlant(2n)
    const changeLog = changeLogOf(store)
    const expected = (await follow(store)).filter(({ id }) => id === 2n).reverse()

    const first = await changeLog.history(2n, { limit: 4 })
    expect(first.entries.map(({ action }) => action)).toEqual(['delete', 'patch', 'patch', 'patch'])
    const rest = await changeLog.history(2n, { limit: 4, after: first.next ?? '' })
    expect([...first.entries, ...rest.entries]).toEqual(expected)
    expect(rest.next).toBeUndefined()
    expect((await changeLog.history(2n, { limit: 6 })).next).toBeUndefined()
    expect(await changeLog.history(99n, { limit: 4 })).toEqual({ entries: [] })
  },
)

testKept('the history of all plants is listed from the newest, page by page', async (store) => {
  await store.createPlants(range(1, 5))
  await store.patchPlant(3n, { name: 'v1' })
  const changeLog = changeLogOf(store)

  const first = await changeLog.history(null, { limit: 4 })
  const rest = await changeLog.history(null, { limit: 4, after: first.next ?? '' })
  expect([...first.entries, ...rest.entries]).toEqual((await follow(store)).reverse())
  expect(rest.next).toBeUndefined()
  expect((await changeLog.history(null, { limit: 6 })).next).toBeUndefined()
})

test('the change log continues after a cursor, and after a restart without the option', async (database) => {
  let store = await database.open(DAY_MS)
  await store.createPlants(range(1, 3))
  const [first, second, third] = await follow(store)

  expect(await follow(store, first?.cursor, 1)).toEqual([second, third] as ChangeLogEntry[])
  expect(await end(store)).toBe(third?.cursor ?? '')
  store = await database.open(null)
  await store.createPlant({ id: 9n, name: 'Oak' })
  expect((await follow(store, third?.cursor)).map(({ id }) => id)).toEqual([9n])
})

test('a change log that was ended starts again with the stored plants', async (database) => {
  let store = await database.open(DAY_MS)
  await store.createPlants(range(1, 3))
  const old = await end(store)
  store = await database.open('off')
  await store.deletePlant(3n)
  store = await database.open(DAY_MS)
  await store.deletePlant(2n)

  const message = await expectRefusal('cursor expired', () =>
    changeLogOf(store).read({ after: old, limit: 1 }),
  )
  expect(message).toEndWith(`follow from ${await end(store)}`)
  expect((await follow(store)).map(brief)).toEqual([['delete', 2n, { name: 'n1' }, null]])
  await expectRefusal('cursor expired', () =>
    changeLogOf(store).history(2n, { after: old, limit: 1 }),
  )
})

test('the cursor of another store, a future one and malformed ones are refused', async (database, make) => {
  await using other = await make()
  const store = await database.open(DAY_MS)
  await store.createPlant({ id: 1n, name: 'Oak' })
  const foreign = await end(await other.open(DAY_MS))
  const future = (await end(store)).replace(/\d+$/, '2')

  const read = (after: string) => () => changeLogOf(store).read({ after, limit: 1 })
  await expectRefusal('cursor expired', read(foreign))
  await expectRefusal('cursor expired', read(future))
  for (const after of [
    '',
    'NOW',
    '5',
    '-',
    `${future}x`,
    ` ${future}`,
    `${future}${'0'.repeat(99)}`,
    'x'.repeat(10_000_000),
  ]) {
    await expectRefusal('invalid', read(after))
    await expectRefusal('invalid', () => changeLogOf(store).history(1n, { after, limit: 1 }))
  }
})

testKept('a page of long entries is shorter, but has at least one', async (store) => {
  const long = 'o'.repeat(200_000)
  for (let id = 1n; id <= 3n; id++) await store.createPlant({ id, name: long })

  const { entries, next } = await changeLogOf(store).read({ limit: 1000 })
  expect(entries).toHaveLength(2)
  expect((await changeLogOf(store).read({ after: next, limit: 1000 })).entries).toHaveLength(1)
  await store.replacePlant({ id: 1n, name: long })
  await store.replacePlant({ id: 1n, name: long })
  const page = await changeLogOf(store).history(1n, { limit: 1000 })
  expect(page.entries).toHaveLength(1)
  expect(page.next).toBe(page.entries[0]?.cursor ?? '')
})

testKept('a page has 1000 short entries', async (store) => {
  await store.createPlants(range(0, 1000))
  await store.createPlant({ id: 1000n, name: 'Oak' })

  const page = await changeLogOf(store).read({ limit: 1000 })
  expect(page.entries).toHaveLength(1000)
  expect((await changeLogOf(store).read({ limit: 1000, after: page.next })).entries).toHaveLength(1)
  const newest = await changeLogOf(store).history(null, { limit: 1000 })
  expect(newest.entries).toHaveLength(1000)
  expect(newest.entries[0]?.id).toBe(1000n)
})

test('an older copy of the database refuses a cursor of changes that it lacks, and continues after others', async (database) => {
  let store = await database.open(DAY_MS)
  await store.createPlants(range(1, 2))
  const common = await end(store)
  const putBack = await database.copy()
  store = await database.open(null)
  await store.createPlants(range(3, 2))
  const [third] = await follow(store, common)
  const lost = await end(store)
  await putBack()
  store = await database.open(null)
  for (const id of [5n, 6n, 7n]) await store.createPlant({ id, name: 'n' })

  for (const after of [lost, third?.cursor ?? '']) {
    const message = await expectRefusal('cursor expired', () =>
      changeLogOf(store).read({ after, limit: 9 }),
    )
    expect(message).toEndWith(`follow from ${await end(store)}`)
    await expectRefusal('cursor expired', () => changeLogOf(store).history(1n, { after, limit: 9 }))
  }
  expect((await follow(store, common)).map(({ id }) => id)).toEqual([5n, 6n, 7n])
})

test('the cursor of an entry that both copies have removed is refused', async (database) => {
  let store = await database.open(1000)
  await store.createPlant({ id: 1n, name: 'n' })
  const putBack = await database.copy()
  store = await database.open(null)
  await store.createPlant({ id: 2n, name: 'n' })
  const lost = await end(store)
  await untilEmpty(store)
  expect(await follow(store, lost)).toEqual([])
  await putBack()
  store = await database.open(null)
  await store.createPlant({ id: 3n, name: 'n' })
  const own = await end(store)
  await untilEmpty(store)

  await expectRefusal('cursor expired', () => changeLogOf(store).read({ after: lost, limit: 9 }))
  expect(await follow(store, own)).toEqual([])
})

testKept('changes of other processes are logged and notify listeners', async (store, database) => {
  let woken = 0
  let wake = Promise.withResolvers<void>()
  const stop = changeLogOf(store).watch(() => {
    woken += 1
    wake.resolve()
  })
  // A new listener is notified once, as it may have missed changes.
  await wake.promise
  wake = Promise.withResolvers()
  const other = await database.openForCommand()
  await other.createPlants(range(1, 2), {
    origin: { token: null, address: null, request: 'import' },
  })
  const committedAt = performance.now()
  await wake.promise
  expect(performance.now() - committedAt).toBeLessThan(2000)
  await other.close()

  await store.deletePlant(1n)
  const entries = await follow(store)
  expect(entries.map(({ action, request }) => [action, request])).toEqual([
    ['create', 'import'],
    ['create', 'import'],
    ['delete', null],
  ])
  stop()
  const before = woken
  await store.deletePlant(2n)
  await Bun.sleep(300)
  expect(woken).toBe(before)
})

testKept('listeners are notified of a change before its client gets a response', async (store) => {
  let seen = false
  const stop = changeLogOf(store).watch(() => {
    seen = true
  })

  await store.createPlant({ id: 1n, name: 'Oak' })
  expect(seen).toBeTrue()
  stop()
})

test('the retention period is kept after restarts without the option', async (database) => {
  await (await database.open(DAY_MS)).createPlants(range(1, 3))
  let store = await database.open(null)
  await Bun.sleep(1500)
  expect(await follow(store)).toHaveLength(3)

  await database.open(1000)
  store = await database.open(null)
  await untilEmpty(store)

  // Removed entries are not returned, but the change log continues.
  await store.createPlant({ id: 9n, name: 'Oak' })
  expect((await follow(store)).map(({ id }) => id)).toEqual([9n])
})

test('old entries are removed, and their cursors refused', async (database) => {
  let store = await database.open(DAY_MS)
  await store.createPlants(range(1, 1700))
  const [first] = (await changeLogOf(store).read({ limit: 1 })).entries
  expect(await changeLogOf(store).stats()).toMatchObject({ entries: 1700, keepMs: DAY_MS })
  const { bytes, oldestAt } = await changeLogOf(store).stats()
  expect(bytes).toBeGreaterThan(1700 * 40)
  expect(oldestAt).toBe(Date.parse(first?.at ?? ''))

  store = await database.open(1000)
  const last = await end(store)
  await untilEmpty(store)

  expect(await changeLogOf(store).stats()).toMatchObject({ entries: 0, oldestAt: null })
  expect(await changeLogOf(store).read({ limit: 10 })).toEqual({ entries: [], next: last })
  expect(await follow(store, last)).toEqual([])
  await expectRefusal('cursor expired', () =>
    changeLogOf(store).read({ after: first?.cursor ?? '', limit: 1 }),
  )
  store = await database.open(DAY_MS)
  await store.deletePlant(1n)
  expect((await follow(store, last)).map(brief)).toEqual([['delete', 1n, { name: 'n0' }, null]])
})
