import { expect, test } from 'bun:test'
import { issueToken } from '../../src/token/token'
import { own } from '../harness/own'
import { ownStore, serve } from '../harness/service'

const store = ownStore()
let now = 0
const service = own(
  () => serve(store, { now: () => now }),
  (made) => made[Symbol.asyncDispose](),
)

async function statusAt(time: number, token: string): Promise<number> {
  now = time
  return (await service.fetch('/plants', { token })).status
}

test('a token is accepted until the millisecond of its expiry', async () => {
  const start = Date.UTC(2030, 0, 1)
  const { text, token } = issueToken('guest', 'read', 90_000, start)
  await store.createToken(token)

  expect(await statusAt(start + 89_999, text)).toBe(200)
  expect(await statusAt(start + 90_000, text)).toBe(401)
  expect(await statusAt(start + 1e12, text)).toBe(401)
})

test('a token without expiry is accepted in the year 9999', async () => {
  const { text, token } = issueToken('owner', 'read', null, Date.UTC(2030, 0, 1))
  await store.createToken(token)

  expect(await statusAt(Date.UTC(9999, 0, 1), text)).toBe(200)
})
