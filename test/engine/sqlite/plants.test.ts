import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { openStore } from '../../../src/engine/engine'
import { preparePlants } from '../../../src/engine/sqlite/reading/plants'
import { storeGuest } from '../../../src/engine/store-user'
import { temporaryFolder } from '../../harness/folder'

test('reads every page by an index in its order, and sorts nothing', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  await (await openStore(path, storeGuest({ makesDatabase: true }))).close()
  using db = new Database(path)
  const texts: string[] = []
  const query = db.query.bind(db)
  db.query = (text: string) => {
    texts.push(text)
    return query(text)
  }
  preparePlants(db)

  const plans = texts.map((text) =>
    query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map(({ detail }) => detail)
      .join('; '),
  )

  const byId = (from: string) => `SEARCH plants USING INTEGER PRIMARY KEY (rowid${from}?)`
  const byTag = (from: string) => `SEARCH plants USING INDEX plants_by_tag (tag=? AND id${from}?)`
  expect(plans).toEqual([
    byId('='),
    ...['>', '<'].flatMap((from) => [byId(from), byTag(from), byId(from), byTag(from)]),
  ])
})
