import { expect } from 'bun:test'
import type { Plant } from '../../src/plant/plant'
import { type ErrorName, RequestError } from '../../src/request-errors'
import type { Store } from '../../src/store'
import { hashToken, type Token } from '../../src/token/token'

/** An empty store of one engine. Disposing of it closes the store and removes what it kept. */
export type TestedStore = AsyncDisposable & {
  readonly store: Store
  /** Closes the store and opens the same data again: as after a restart. */
  reopen(): Promise<Store>
}

/** Plants with ids one after the other. */
export const range = (from: number, count: number): Plant[] =>
  Array.from({ length: count }, (_, index) => ({ id: BigInt(from + index), name: `n${index}` }))

/** Every plant of a store, page by page. */
export async function allPlants(store: Pick<Store, 'listPlants'>): Promise<Plant[]> {
  const found: Plant[] = []
  let after: bigint | null = null
  do {
    const page = await store.listPlants({ after, limit: 1000 })
    found.push(...page.plants)
    after = page.next
  } while (after !== null)
  return found
}

/** Expects that a store refuses a request with an error; resolves to the message. */
export async function expectRefusal(
  error: ErrorName,
  request: () => Promise<unknown>,
): Promise<string> {
  const reason: unknown = await request().catch((thrown) => thrown)
  expect(reason).toBeInstanceOf(RequestError)
  expect(reason).toHaveProperty('error', error)
  return reason instanceof RequestError ? reason.message : ''
}

/** A valid token of a name, unless it is given otherwise. */
export const testedToken = (name: string, more: Partial<Token> = {}): Token => ({
  name,
  hash: hashToken(`secret of ${name}`),
  scope: 'write',
  createdAt: 1_700_000_000_000,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  ...more,
})
