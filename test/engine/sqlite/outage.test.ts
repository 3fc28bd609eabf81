import { expect, setDefaultTimeout, test } from 'bun:test'
import { openStore } from '../../../src/engine/engine'
import { daemon } from '../../../src/engine/role'
import { connect, prepareServing } from '../../../src/engine/sqlite/connection'
import { type StorageFailure, toClientError } from '../../../src/engine/sqlite/errors'
import { Outage } from '../../../src/engine/sqlite/outage'
import { PATIENCE_MS } from '../../harness/daemon'
import { temporaryFolder } from '../../harness/folder'

setDefaultTimeout(PATIENCE_MS)

const failure: StorageFailure = { kind: 'failed', detail: 'EIO' }

test('ends with an answer to each batch in doubt, also to one that a probe waited behind', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  const role = daemon(
    () => {},
    () => {},
  )
  const store = await openStore(path, role)
  await store.createPlant({ id: 1n, name: 'made' })
  await store.close()
  using db = connect(path)
  const connection = prepareServing(
    db,
    () => false,
    () => {},
  )

  const outage = new Outage(role, toClientError, async () => connection)
  outage.begin(failure)
  const doubts = [
    outage.promiseOutcomes({
      changes: [['create', [1, 'made', null]]],
      outcomes: [null],
      logged: null,
    }),
    outage.promiseOutcomes({
      changes: [['create', [2, 'not made', null]]],
      outcomes: [null],
      logged: null,
    }),
    outage.promiseOutcomes({ changes: [['probe']], outcomes: [null], logged: null }),
  ]

  const unanswered = Bun.sleep(5000).then(() => 'unanswered')
  expect(await Promise.all(doubts.map((it) => Promise.race([it, unanswered])))).toEqual([
    [null],
    [{ error: 50302 }],
    [null],
  ])
})
