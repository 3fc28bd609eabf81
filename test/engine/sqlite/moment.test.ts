import { expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { openStore } from '../../../src/engine/engine'
import { readDatabase } from '../../../src/engine/sqlite/read-only/read'
import { storeOwner } from '../../../src/engine/store-user'
import { temporaryFolder } from '../../harness/folder'
import { openFiles } from '../../harness/open-files'

test('a read of a database that a crash has left closes its files', async () => {
  using folder = temporaryFolder()
  const ignore = () => {}
  const writer = await openStore(folder.file('plants.db'), storeOwner(ignore, ignore))
  const left = folder.file('left.db')
  for (const suffix of ['', '-wal', '-shm'])
    copyFileSync(folder.file(`plants.db${suffix}`), left + suffix)

  const during = await readDatabase(left, 'repeatable', () => openFiles(left))

  expect(during).toContain(`${left}-wal`)
  expect(openFiles(left)).toEqual([])
  await writer.close()
})
