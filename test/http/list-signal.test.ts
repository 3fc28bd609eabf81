// A client that goes away takes its list out of the queue of long reads.
import { expect, test } from 'bun:test'
import { openStore } from '../../src/engine/engine'
import { storeOwner } from '../../src/engine/store-user'
import { issueToken } from '../../src/token/token'
import { serveStore } from '../../tools/service'
import { temporaryFolder } from '../harness/folder'
import { until } from '../harness/until'

const log = () => {}

test('the store learns that the client of a list has disconnected', async () => {
  using folder = temporaryFolder()
  const store = await openStore(folder.file('plants.db'), storeOwner(log, log))
  const { text, token } = issueToken('reader', 'read', null, Date.now())
  await store.createToken(token)
  let signal: AbortSignal | undefined
  const held = Promise.withResolvers<{ plants: []; next: null }>()
  const slow = {
    ...store,
    listPlants: (_: unknown, sent?: AbortSignal) => {
      signal = sent
      return held.promise
    },
  }
  const service = await serveStore(slow, { now: Date.now })
  const client = new AbortController()
  const headers = { authorization: `Bearer ${text}` }
  const listing = fetch(`${service.url}/plants`, { headers, signal: client.signal })
  await until('the list', () => signal !== undefined)
  expect(signal?.aborted).toBeFalse()

  client.abort()

  await expect(listing).rejects.toThrow()
  await until('the signal', () => signal?.aborted === true)
  held.resolve({ plants: [], next: null })
  await service.end()
  await store.close()
})
