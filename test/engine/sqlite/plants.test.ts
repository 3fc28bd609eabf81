import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { openStore } from '../../../src/engine/engine'
import { allPlants, preparePlants } from '../../../src/engine/sqlite/plants'
import { commandUser } from '../../../src/engine/store-user'
import { ORDERS } from '../../../src/plant/plants'
import { FILTERS, filtersWith } from '../../harness/filters'
import { temporaryFolder } from '../../harness/folder'

test('every page is a range scan of an index, without sorting', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  await (await openStore(path, commandUser({ makesDatabase: true }))).close()
  using db = new Database(path, { safeIntegers: true })
  const texts = new Set<string>()
  const query = db.query.bind(db)
  db.query = (text: string) => {
    texts.add(text)
    return query(text)
  }
  const plants = preparePlants(db)
  for (const order of ORDERS) {
    for (const filter of [...FILTERS, ...filtersWith(['a', 'b'])]) {
      plants.list({ order, limit: 10, ...filter })
    }
  }

  const selects = [...texts].filter((text) => text.startsWith('SELECT'))
  expect(selects.length).toBeGreaterThan(8)
  for (const text of selects) {
    const plan = query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all()
    expect(plan).toHaveLength(1)
    expect(plan[0]?.detail).toMatch(
      text.includes('AND tag = ')
        ? /^SEARCH plants USING INDEX plants_by_tag \(tag=\? AND id[<>]\?\)$/
        : /^SEARCH plants USING INTEGER PRIMARY KEY \(rowid[<>=]\?\)$/,
    )
  }
})

test('an export is read in parts of a thousand plants, or the length of a page', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const store = await openStore(path, commandUser({ makesDatabase: true }))
  const names = [...Array.from({ length: 1001 }, () => 'a'), ...Array(3).fill('b'.repeat(500_000))]
  const plants = names.map((name, index) => ({ id: BigInt(index), name }))
  await store.createPlants(plants)
  await store.close()
  using db = new Database(path, { safeIntegers: true })

  const parts = [...allPlants(db)]

  expect(parts.map(({ length }) => length)).toEqual([1000, 2, 1, 1])
  expect(parts.flat()).toEqual(plants)
})
