import { expect, test } from 'bun:test'
import { copyFileSync, utimesSync } from 'node:fs'
import { openStore } from '../../../src/engine/engine'
import { readDatabase } from '../../../src/engine/sqlite/snapshot'
import { commandUser, storeOwner } from '../../../src/engine/store-user'
import { temporaryFolder } from '../../harness/folder'
import { openFiles } from '../../harness/open-files'

const ignore = () => {}

test('a read closes the files of a database that crashed', async () => {
  using folder = temporaryFolder()
  const writer = await openStore(folder.file('plants.db'), storeOwner(ignore, ignore))
  await writer.createPlant({ id: 1n, name: 'Fern' })
  const left = folder.file('left.db')
  for (const suffix of ['', '-wal', '-shm'])
    copyFileSync(folder.file(`plants.db${suffix}`), left + suffix)

  const during = await readDatabase(left, () => openFiles(left))

  expect(during).toContain(`${left}-wal`)
  expect(openFiles(left)).toEqual([])
  await writer.close()
})

test('an error of the reader ends the read at once, unless the database has changed meanwhile', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  await (await openStore(path, commandUser({ makesDatabase: true }))).close()
  let reads = 0
  const read = (changes: number) =>
    readDatabase(path, () => {
      reads += 1
      if (reads <= changes) utimesSync(path, reads, reads)
      throw new Error(`in read ${reads}`)
    })

  await expect(read(0)).rejects.toThrow('in read 1')
  reads = 0
  await expect(read(2)).rejects.toThrow('in read 3')
})
