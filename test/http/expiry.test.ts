import { expect, test } from 'bun:test'
import { openStore } from '../../src/engine/engine'
import { storeOwner } from '../../src/engine/store-user'
import { issueToken, parseDuration } from '../../src/token/token'
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

test('takes a token until the millisecond of its expiry', async () => {
  const start = Date.UTC(2030, 0, 1)
  const { text, token } = issueToken('guest', 'read', 90_000, start)
  await store.createToken(token)

  expect(await statusAt(start, text)).toBe(200)
  expect(await statusAt(start + 89_999, text)).toBe(200)
  expect(await statusAt(start + 90_000, text)).toBe(401)
  expect(await statusAt(start + 1e12, text)).toBe(401)
})

test('takes a token without expiry in the year 9999', async () => {
  const { text, token } = issueToken('owner', 'read', null, Date.UTC(2030, 0, 1))
  await store.createToken(token)

  expect(await statusAt(Date.UTC(9999, 0, 1), text)).toBe(200)
})

test.each([
  ['1s', 1000],
  ['90m', 5_400_000],
  ['12h', 43_200_000],
  ['90d', 7_776_000_000],
  ['2w', 1_209_600_000],
  ['1y', 31_536_000_000],
  ['1000y', 31_536_000_000_000],
])('reads the duration %s', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds)
})

test.each([
  '',
  '90',
  'd',
  '0d',
  '-1d',
  '1.5d',
  '1 d',
  '1D',
  '1d1h',
  '1000000d',
  '1001y',
  '999999y',
  ' 1d',
  '1e3s',
])('reads no duration from %j', (text) => {
  expect(parseDuration(text)).toBeNull()
})
