import { expect, test } from 'bun:test'
import { openStore } from '../../../src/engine/engine'
import { connect } from '../../../src/engine/sqlite/file/connection'
import { prepareServing } from '../../../src/engine/sqlite/serving'
import { storeOwner } from '../../../src/engine/store-user'
import { issueToken } from '../../../src/token/token'
import { temporaryFolder } from '../../harness/folder'

test('a token is committed at once, although reads of the same turn share a transaction', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const ignore = () => {}
  await (await openStore(path, storeOwner(ignore, ignore))).close()
  using db = connect(path)
  using other = connect(path)
  const { sharedReads, plants, tokens, write } = prepareServing(db, () => true, ignore)
  const { token } = issueToken('laptop', 'read', null, 0)

  sharedReads.begin()
  plants.read(1n)
  write(() => tokens.create(token))

  expect(other.query('SELECT name FROM tokens').values()).toEqual([['laptop']])
})
