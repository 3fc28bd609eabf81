import { expect } from 'bun:test'
import { hashToken, stateOf } from '../../src/token/token'
import { createContract } from '../harness/contract'
import { type TestedStore, testedToken as token } from '../harness/tested-store'

/** The part of the contract that speaks of tokens. */
export const tokensContract = createContract<TestedStore>()
const { test } = tokensContract

test('tokens survive a restart', async ({ store, reopen }) => {
  const laptop = token('laptop')
  const guest = token('guest', { scope: 'read', createdAt: 1, expiresAt: 2_000_000_000_001 })
  expect(await store.listTokens()).toEqual([])
  expect(await store.findToken(laptop.hash)).toBeNull()

  expect(await store.createToken(laptop)).toBeTrue()
  expect(await store.createToken(guest)).toBeTrue()

  expect(await store.findToken(laptop.hash)).toEqual(laptop)
  const reopened = await reopen()
  expect(await reopened.findToken(guest.hash)).toEqual(guest)
  expect(await reopened.listTokens()).toEqual([guest, laptop])
})

test('a revocation takes effect on the next lookup of a token that was just found', async ({
  store,
}) => {
  const laptop = token('laptop')
  expect(await store.findToken(laptop.hash)).toBeNull()
  await store.createToken(laptop)
  for (let lookups = 0; lookups < 3; lookups++)
    expect(await store.findToken(laptop.hash)).toEqual(laptop)

  await store.revokeToken('laptop', 5)
  expect(await store.findToken(laptop.hash)).toEqual({ ...laptop, revokedAt: 5 })
  await store.pruneTokens(5)
  expect(await store.findToken(laptop.hash)).toBeNull()
})

test('a name has at most one valid token', async ({ store }) => {
  const first = token('desk')
  const second = token('desk', { hash: hashToken('other') })
  await store.createToken(first)

  expect(await store.createToken(second)).toBeFalse()
  expect(await store.findToken(second.hash)).toBeNull()
  expect(await store.revokeToken('desk', 1_800_000_000_000)).toBeTrue()
  expect(await store.createToken(second)).toBeTrue()
  expect(await store.listTokens()).toHaveLength(2)
})

test('a new token may have the name of an expired one, which stays expired', async ({
  store,
  reopen,
}) => {
  const [created, expiry] = [1_700_000_000_000, 1_700_000_090_000]
  const old = token('guest', { createdAt: created, expiresAt: expiry })
  const fresh = (createdAt: number) => token('guest', { hash: hashToken('fresh'), createdAt })
  await store.createToken(old)

  expect(await store.createToken(fresh(expiry - 1))).toBeFalse()
  expect(await store.listTokens()).toEqual([old])
  expect(await store.createToken(fresh(expiry))).toBeTrue()

  const reopened = await reopen()
  const found = await reopened.findToken(old.hash)
  // Whatever the clock says from now on.
  for (const now of [created, expiry]) expect(found && stateOf(found, now)).toBe('expired')
  expect(await reopened.listTokens()).toHaveLength(2)
  expect(await reopened.revokeToken('guest', expiry + 1)).toBeTrue()
  expect(await reopened.revokeToken('guest', expiry + 1)).toBeFalse()
  expect(await reopened.findToken(old.hash)).toEqual(found)
})

test('an expired token is unchanged if the new one cannot be added', async ({ store }) => {
  const old = token('guest', { createdAt: 1, expiresAt: 2 })
  await store.createToken(old)

  expect(await store.createToken({ ...old, createdAt: 3, expiresAt: null })).toBeFalse()

  expect(await store.listTokens()).toEqual([old])
  await store.createPlant({ id: 1n, name: 'Rose' })
})

test("the hour of a token's last use survives a restart", async ({ store, reopen }) => {
  const laptop = token('laptop')
  const kept = token('kept')
  await store.createToken(laptop)
  await store.createToken(kept)
  const hour = Date.UTC(2026, 10, 22, 12)
  const found = async () => (await store.findToken(laptop.hash)) ?? laptop

  store.recordUse(await found(), hour + 59 * 60_000)
  // A change resolves after those before it.
  await store.createPlant({ id: 1n, name: 'Rose' })
  expect(await found()).toEqual({ ...laptop, lastUsedAt: hour })
  store.recordUse(await found(), hour + 3_600_000)

  const reopened = await reopen()
  expect(await reopened.findToken(laptop.hash)).toEqual({
    ...laptop,
    lastUsedAt: hour + 3_600_000,
  })
  expect(await reopened.findToken(kept.hash)).toEqual(kept)
})

test('only the tokens that had ended by a time are pruned', async ({ store, reopen }) => {
  await store.createToken(token('valid'))
  await store.createToken(token('expires later', { expiresAt: 2001 }))
  await store.createToken(token('expired', { expiresAt: 2000 }))
  await store.createToken(token('revoked', { expiresAt: 9000 }))
  await store.createToken(token('revoked later'))
  await store.revokeToken('revoked', 2000)
  await store.revokeToken('revoked later', 2001)

  expect(await store.pruneTokens(1999)).toBe(0)
  expect(await store.pruneTokens(2000)).toBe(2)

  const left = (await (await reopen()).listTokens()).map(({ name }) => name)
  expect(left).toEqual(['expires later', 'revoked later', 'valid'])
})

test('a token is revoked once, and the time is kept', async ({ store, reopen }) => {
  await store.createToken(token('lost'))
  await store.createToken(token('kept'))
  const { hash } = token('lost')
  expect(await store.findToken(hash)).toEqual(token('lost'))

  expect(await store.revokeToken('lost', 1_800_000_000_000)).toBeTrue()
  expect(await store.revokeToken('lost', 1_900_000_000_000)).toBeFalse()
  expect(await store.revokeToken('never', 1_900_000_000_000)).toBeFalse()

  const revoked = token('lost', { revokedAt: 1_800_000_000_000 })
  expect(await store.findToken(hash)).toEqual(revoked)
  expect(await store.findToken(token('kept').hash)).toEqual(token('kept'))
  expect(await (await reopen()).findToken(hash)).toEqual(revoked)
})
