// The SQL that writes the change log: what is recorded of it stays right when entries are removed.
import { expect, setSystemTime, test } from 'bun:test'
import { creation } from '../../../src/engine/commit/kinds'
import { openStore } from '../../../src/engine/engine'
import { prepareChangeLog, prepareChangeLogWriter } from '../../../src/engine/sqlite/change-log'
import { checkDatabase } from '../../../src/engine/sqlite/check'
import { connect } from '../../../src/engine/sqlite/connection'
import { storeOwner } from '../../../src/engine/store-user'
import { temporaryFolder } from '../../harness/folder'

const ignore = () => {}

test('the size and cursors of the remaining entries are right after a removal', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const store = await openStore(path, storeOwner(ignore, ignore, 1))
  for (let id = 1; id <= 9; id++) {
    await store.createPlant({ id: BigInt(id), name: 'n'.repeat(id * id), tag: 't'.repeat(id) })
  }
  const [, , third, fourth] = (await store.changeLog?.read({ limit: 9 }))?.entries ?? []
  await store.close()
  using db = connect(path)
  const { remove } = prepareChangeLogWriter(db)
  await Bun.sleep(5)

  remove(3)

  expect((await checkDatabase(path)).wrongRecords).toEqual([])
  const again = await openStore(path, storeOwner(ignore, ignore, 86_400_000))
  const sizes = db.query('SELECT bytes FROM change_log').get() as { bytes: bigint }
  expect((await again.changeLog?.stats())?.entries).toBe(6)
  expect((await again.changeLog?.stats())?.bytes).toBe(Number(sizes.bytes))
  expect((await again.changeLog?.read({ limit: 1 }))?.entries).toEqual(fourth ? [fourth] : [])
  const after = third?.cursor ?? ''
  expect((await again.changeLog?.read({ after, limit: 1 }))?.entries[0]?.id).toBe(4n)
  await again.close()
})

test('a recent entry is kept, and one dated in the future is removed', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  await (await openStore(path, storeOwner(ignore, ignore, 60_000))).close()
  using db = connect(path)
  const { add, remove } = prepareChangeLogWriter(db)
  setSystemTime(Date.now())
  for (let id = 1; id <= 3; id++) add([creation([id, 'n', null], null)])
  const numbers = () => db.query('SELECT number FROM changes').values().flat()

  remove(3)
  expect(numbers()).toEqual([1n, 2n, 3n])
  db.run('UPDATE changes SET at = at + 3600000 WHERE number = 1')
  db.run('UPDATE changes SET at = at - 3600000 WHERE number = 2')
  db.run('UPDATE changes SET at = at - 60000 WHERE number = 3')
  remove(3)
  setSystemTime()
  expect(numbers()).toEqual([3n])
})

test('nothing is added for a batch without entries, or without a change log', async () => {
  using folder = temporaryFolder()
  const [kept, none] = [folder.file('kept.db'), folder.file('none.db')]
  await (await openStore(kept, storeOwner(ignore, ignore, 60_000))).close()
  await (await openStore(none, storeOwner(ignore, ignore))).close()
  using db = connect(kept)
  using other = connect(none)
  const entry = creation([1, 'n', null], null)

  prepareChangeLogWriter(db).add([])
  prepareChangeLogWriter(other).add([entry])
  for (const it of [db, other])
    expect(it.query('SELECT last, bytes FROM change_log').values()).toEqual([[0n, 0n]])
  expect(await prepareChangeLog(db).range()).toEqual({ keepMs: 60_000, first: 1, last: 0 })
  expect(await prepareChangeLog(other).range()).toBeNull()
})
