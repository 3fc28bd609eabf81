import { expect, test } from 'bun:test'
import { openStore } from '../../src/engine/engine'
import { storeOwner } from '../../src/engine/store-user'
import { issueToken } from '../../src/token/token'
import { serveStore } from '../../tools/service'
import { own } from '../harness/own'
import { ownFolder } from '../harness/own-folder'

// The whole service but for the clock.
const folder = ownFolder()
const log = () => {}
const store = own(
  () => openStore(folder.file('plants.db'), storeOwner(log, log)),
  (made) => made.close(),
)
let now = 0
const service = own(
  () => serveStore(store, { now: () => now }),
  ({ end }) => end(),
)

const statusAt = async (time: number, token: string | null) => {
  now = time
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${service.url}/plants`, { headers })).status
}

test('accepts a token until the millisecond of its expiry', async () => {
  const start = Date.UTC(2030, 0, 1)
  const { text, token } = issueToken('guest', 'read', 90_000, start)
  await store.createToken(token)

  expect(await statusAt(start, text)).toBe(200)
  expect(await statusAt(start + 89_999, text)).toBe(200)
  expect(await statusAt(start + 90_000, text)).toBe(401)
  expect(await statusAt(start + 1e12, text)).toBe(401)
})

test('accepts a token without expiry in the year 9999', async () => {
  const { text, token } = issueToken('owner', 'read', null, Date.UTC(2030, 0, 1))
  await store.createToken(token)

  expect(await statusAt(Date.UTC(9999, 0, 1), text)).toBe(200)
})
