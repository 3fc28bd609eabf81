import { expect, test } from 'bun:test'
import { hashToken, type Token } from '../src/token'
import type { TestedStore } from './harness/tested-store'

const token = (name: string, more: Partial<Token> = {}): Token => ({
  name,
  hash: hashToken(`secret of ${name}`),
  scope: 'write',
  createdAt: 1_700_000_000_000,
  expiresAt: null,
  revokedAt: null,
  ...more,
})

/** The part of the contract that speaks of tokens. */
export function testTokens(open: () => Promise<TestedStore>): void {
  test('keeps tokens, and over a restart', async () => {
    await using tested = await open()
    const laptop = token('laptop')
    const guest = token('guest', { scope: 'read', createdAt: 1, expiresAt: 2_000_000_000_001 })
    expect(await tested.store.listTokens()).toEqual([])
    expect(await tested.store.findToken(laptop.hash)).toBeNull()

    expect(await tested.store.createToken(laptop)).toBeTrue()
    expect(await tested.store.createToken(guest)).toBeTrue()

    expect(await tested.store.findToken(laptop.hash)).toEqual(laptop)
    const reopened = await tested.reopen()
    expect(await reopened.findToken(guest.hash)).toEqual(guest)
    expect(await reopened.listTokens()).toEqual([guest, laptop])
  })

  test('has one token of a name that is not revoked', async () => {
    await using tested = await open()
    const { store } = tested
    const first = token('desk')
    const second = token('desk', { hash: hashToken('other') })
    await store.createToken(first)

    expect(await store.createToken(second)).toBeFalse()
    expect(await store.findToken(second.hash)).toBeNull()
    expect(await store.revokeToken('desk', 1_800_000_000_000)).toBeTrue()
    expect(await store.createToken(second)).toBeTrue()
    expect(await store.listTokens()).toHaveLength(2)
  })

  test('revokes a token once, and keeps when', async () => {
    await using tested = await open()
    const { store } = tested
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
    expect(await (await tested.reopen()).findToken(hash)).toEqual(revoked)
  })
}
