// The console's searches, in the page among the plants read and by the service, with real daemons.
import { beforeAll, describe, expect, test } from 'bun:test'
import { fold, matcherOf } from '../../../src/web/console/list/local-search'
import { Selection } from '../../../src/web/console/list/selection'
import type { Query } from '../../../src/web/console/query'
import { BY_ID, type Sort } from '../../../src/web/console/sort'
import { describeFound } from '../../../src/web/console/toolbar/describe-found'
import { cpuTime } from '../../harness/cpu-time'
import { ownDaemon } from '../../harness/own-daemon'
import { openList as openAny, requestsOf } from './opened-list'

const MORE_THAN_HELD = 100_001
const PLANTS = 3000
const { daemon, createPlants } = ownDaemon()

beforeAll(async () => {
  const named = [
    'Günsel',
    'Kriechender Günsel',
    'Guns’ rose',
    'Straßenbaum',
    'Red Rose',
    'rose, red',
  ]
  await createPlants(
    Array.from({ length: PLANTS }, (_, at) => {
      const id = at + 1
      const name = named[PLANTS - id] ?? `plant ${id}`
      return { id: BigInt(id), name, ...(id % 2 ? { tag: 'odd' } : {}) }
    }),
  )
})

/** Opens a list; `stored` is the number of plants according to the status, or undefined before the status is read. */
async function openList(stored: number | undefined, query: Query = {}, sort: Sort = BY_ID) {
  const { list, names } = await openAny(daemon, { stored, query, sort })
  return { list, names, said: () => describeFound(list) }
}

describe('a name', () => {
  test.each([
    ['Günsel', 'gunsel'],
    ['ÉCLAIR', 'eclair'],
    ['Straße', 'strasse'],
    ['Ærøskøbing Łódź', 'aeroskobing lodz'],
    ['ﬁg', 'fig'],
    ['אזוב', 'אזוב'],
    ['日本の苔', '日本の苔'],
    ['', ''],
  ])('%s is %s without accents', (name, folded) => {
    expect(fold(name)).toBe(folded)
    // Some systems write letters and accents as separate characters.
    expect(fold(name.normalize('NFD'))).toBe(folded)
  })

  test('is found if it has all words, in any order', () => {
    const plant = { id: 1n, name: 'Kriechender Günsel, blau', tag: 'Shrub' }
    const finds = (query: Query) => matcherOf(query)(plant)

    expect(
      ['gunsel', 'GÜNSEL kriech', 'blau  günsel ', 'ender'].map((name) => finds({ name })),
    ).toEqual(Array(4).fill(true))
    expect(finds({ name: 'gunsel red' })).toBeFalse()
    const numbered = (name: string, word: string) => matcherOf({ name: word })({ id: 1n, name })
    expect(
      ['Rose 7', 'Rose 70', 'rose7', 'AC-0007', '17 and 7'].map((it) => numbered(it, '7')),
    ).toEqual(Array(5).fill(true))
    expect(['Rose 17', '1007', 'Rose'].map((it) => numbered(it, '7'))).toEqual(Array(3).fill(false))
    expect(numbered('AC-0012345', '12345')).toBeTrue()
    expect(numbered('AC-0012345', '0012345')).toBeTrue()
    expect(finds({ name: 'gunsel', tag: 'Shrub' })).toBeTrue()
    expect(finds({ name: 'gunsel', tag: 'shrub' })).toBeFalse()
    // An empty tag is a tag, as in the service.
    const untagged = matcherOf({ name: 'gunsel', isUntagged: true })
    expect(untagged({ id: 2n, name: 'Günsel' })).toBeTrue()
    expect(untagged({ id: 2n, name: 'Günsel', tag: '' })).toBeFalse()
  })
})

test('a search for a number in a long name takes linear time', () => {
  const timeOf = (zeros: number): number => {
    const plant = { id: 1n, name: `1${'0'.repeat(zeros)}` }
    const find = matcherOf({ name: '00' })
    expect(find(plant)).toBeFalse()
    const started = cpuTime()
    for (let turn = 0; turn < 10; turn++) find(plant)
    return cpuTime() - started
  }
  timeOf(5000)
  const few = timeOf(5000)

  // Eight times as many zeros.
  expect(timeOf(40_000) / few).toBeLessThan(30)
})

test('typed text filters the plants read at once, then all', async () => {
  const { list, names, said } = await openList(PLANTS)
  const typing = list.searchTyped({ name: 'rose' })
  // This ends before any page can arrive.
  while (!list.rows.isFiltered) await Promise.resolve()
  expect(names()).toEqual([])
  expect(said()).toMatch(/^0 plants found; reading [\d,]+ of 3,000…$/)
  await typing
  expect(names()).toEqual(['rose, red', 'Red Rose', 'Guns’ rose'])
  expect(said()).toBe('3 plants found; accents and word order ignored')

  expect(await requestsOf(daemon, () => list.searchTyped({ name: 'red rose' }))).toEqual([])
  expect(names()).toEqual(['rose, red', 'Red Rose'])
  await list.searchTyped({ name: 'gunsel' })
  expect(names()).toEqual(['Kriechender Günsel', 'Günsel'])
  for (const nothing of [null, {}]) {
    await list.searchTyped(nothing)
    expect(list.rows.count.value).toBe(PLANTS)
    expect(list.rows.isFiltered).toBeFalse()
    expect(said()).toBe('')
    await list.searchTyped({ name: 'gunsel' })
  }
})

test('a submitted search reads again what may have changed', async () => {
  const { list, names, said } = await openList(PLANTS)
  await list.searchTyped({ name: 'gunsel' })
  const asked = await requestsOf(daemon, () => list.show({ name: 'gunsel' }))

  expect(names()).toEqual(['Kriechender Günsel', 'Günsel'])
  expect(list.typedQuery.value).toBeNull()
  expect(asked.length).toBeGreaterThan(2)
  expect(asked.filter((url) => url.includes('name='))).toEqual([])
  expect(said()).toBe('2 plants found; accents and word order ignored')
  await list.removeTerm('name')
  expect(list.rows.count.value).toBe(PLANTS)
})

test('a search in the URL finds the same', async () => {
  const { names } = await openList(PLANTS, { name: 'ROSE red', tag: 'odd' })
  expect(names()).toEqual(['rose, red'])
})

test('the results are in the order of the table', async () => {
  const { list, names } = await openList(PLANTS, {}, { by: 'name', isDescending: true })
  await list.searchTyped({ name: 'rose' })
  expect(names()).toEqual(['rose, red', 'Red Rose', 'Guns’ rose'])
  await list.sortBy('name')
  expect(names()).toEqual(['Guns’ rose', 'Red Rose', 'rose, red'])
  await list.sortBy('id')
  await list.sortBy('id')
  expect(names()).toEqual(['Guns’ rose', 'Red Rose', 'rose, red'])
  expect(list.rows.heldPlants().map(({ id }) => list.rows.rowOf(id))).toEqual([0, 1, 2])
})

test('the results follow changes by others and local deletions', async () => {
  const { list, names } = await openList(PLANTS, { name: 'rose' })
  list.changeAll(new Map([[7n, { name: 'rósé 7' }]]))
  list.changeAll(new Map([[BigInt(PLANTS - 4), { name: 'no longer' }]]))
  expect(names()).toEqual(['rósé 7', 'rose, red', 'Guns’ rose'])
  list.showPending(new Map([[7n, null]]))
  list.put({ id: 9000n, name: 'New rose' })
  expect(names()).toEqual(['rose, red', 'Guns’ rose', 'New rose'])
  list.putAll([{ id: 7n, name: 'rósé 7' }])
  expect(list.rows.row(0)?.id).toBe(7n)
  expect(list.rows.count.value).toBe(4)
})

test('selecting all includes results that are not read yet', async () => {
  const { list } = await openList(PLANTS)
  const selection = new Selection(list)
  const typing = list.searchTyped({ name: 'plant' })
  while (!list.rows.isFiltered) await Promise.resolve()
  await selection.addAll()

  expect(selection.size).toBe(PLANTS - 6)
  await typing
  expect(selection.hasAll).toBeTrue()
})

test('the service searches once the list has grown too long', async () => {
  const { list } = await openList(PLANTS)
  list.rows.isTooLong.value = true
  const asked = await requestsOf(daemon, () => list.show({ name: 'rose' }))

  expect(asked.at(-1)).toContain('name=rose')
  expect(list.searchesLocally).toBeFalse()
})

describe('in a longer list', () => {
  test('the service searches for typed text, and submitting it sends no request', async () => {
    const { list, names, said } = await openList(MORE_THAN_HELD)
    const asked = await requestsOf(daemon, () => list.searchTyped({ name: '25 PLANT' }))
    expect(asked).toEqual(['/plants?limit=250&name=25&name=PLANT'])
    await list.readAll()
    expect(names()[0]).toBe('plant 25')
    expect(said()).toMatch(/^\d+ plants found; exact spelling only$/)

    expect(await requestsOf(daemon, () => list.show({ name: '25 PLANT' }))).toEqual([])
    expect(names()[0]).toBe('plant 25')
    await list.removeTerm('name')
    expect(list.rows.row(0)?.id).toBe(1n)
    expect(said()).toBe('The first 250 of 100,001 plants; a search or a filter finds any')
  })

  test('the service searches before the plants are counted', async () => {
    const { list, names } = await openList(undefined, { name: 'Günsel' })
    await list.readAll()
    expect(names()).toEqual(['Kriechender Günsel', 'Günsel'])
    expect(list.searchesLocally).toBeFalse()
  })
})

describe('plants without a tag', () => {
  test('are listed by the service, and filtered by the page for a word', async () => {
    const { list, names, said } = await openList(PLANTS, { isUntagged: true })
    await list.readAll()
    expect(list.rows.count.value).toBe(PLANTS / 2)
    expect(said()).toBe('1,500 plants found without a tag')
    await list.refine({ name: 'gunsel' })
    expect(names()).toEqual(['Günsel'])
    list.put({ id: BigInt(PLANTS), name: 'Günsel', tag: 'shrub' })
    expect(names()).toEqual([])
    await list.refine({ tag: 'odd' })
    expect(list.query.value).toEqual({ name: 'gunsel', tag: 'odd' })
  })

  test('are listed by the service even in a longer list, with words in any order', async () => {
    const { list, names } = await openList(MORE_THAN_HELD)
    const asked = await requestsOf(daemon, () => list.show({ isUntagged: true, name: '7 plant' }))
    expect(asked.every((url) => url.includes('name=7&name=plant&tagged=false'))).toBeTrue()
    expect(names()).toContain('plant 70')
    expect(names()).not.toContain('plant 7')
  })
})

test('plants that are being tagged show the new tag, even if they are read later', async () => {
  const { list } = await openList(PLANTS, { tag: 'odd' })
  const odd = Array.from({ length: PLANTS / 2 }, (_, at) => ({
    id: BigInt(2 * at + 1),
    name: `plant ${2 * at + 1}`,
    tag: 'odd',
  }))
  list.showPending(new Map(odd.map((plant) => [plant.id, { ...plant, tag: 'new' }])))
  expect(await list.readAll()).toBe('all')
  expect(list.rows.count.value).toBe(0)
  await list.show({})
  await list.readAll()
  expect(list.rows.plant(2001n)?.tag).toBe('new')

  list.putAll(odd)
  expect(list.rows.plant(2001n)?.tag).toBe('odd')
  expect(list.rows.count.value).toBe(PLANTS)
})

test('an export of a local search has the plants found, in the order of the table', async () => {
  const { list } = await openList(PLANTS, { name: 'rose' }, { by: 'name', isDescending: false })
  const names = (await list.localResults?.())?.map(({ name }) => name)
  expect(names).toEqual(['Guns’ rose', 'Red Rose', 'rose, red'])
  const tagged = await openList(PLANTS, { tag: 'odd' }, { by: 'name', isDescending: true })
  expect((await tagged.list.localResults?.())?.[0]?.name).toBe('Straßenbaum')
  expect((await openList(PLANTS, { tag: 'odd' })).list.localResults).toBeNull()
})

test('an export of a local search fails unless all plants can be read', async () => {
  const { list } = await openList(PLANTS, { name: 'rose' })
  list.reader.rewind()
  const failure = { ok: false, error: 50301, status: 503, message: 'busy' } as const
  list.session.persist = async () => ({ ...failure, isRepeated: false })

  await expect(list.localResults?.()).rejects.toThrow('busy')
})
