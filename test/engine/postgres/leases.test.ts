// Leases of tokens: how long a token that was found may count, once it is revoked.
import { expect, test } from 'bun:test'
import { createLeases, LEASE_MS } from '../../../src/engine/postgres/leases'
import { hashToken, type Token } from '../../../src/token/token'

const token: Token = {
  name: 'x',
  hash: hashToken('secret'),
  scope: 'read',
  createdAt: 1,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
}

/** Leases with a clock of the test, and the queries that wait for their answers. */
function setUp() {
  let time = 0
  const queries: ((token: Token | null) => void)[] = []
  const leases = createLeases(
    () => new Promise((resolve) => queries.push(resolve)),
    () => time,
  )
  return {
    find: () => leases.find(token.hash),
    forget: () => leases.forget(token.hash),
    queries,
    pass(milliseconds: number): void {
      time += milliseconds
    },
  }
}

test('simultaneous look-ups of a token share a query', async () => {
  const { find, queries, pass } = setUp()
  const found = [find(), find()]
  pass(LEASE_MS - 1)
  found.push(find())

  queries[0]?.(token)

  expect(await Promise.all(found)).toEqual([token, token, token])
  expect(queries).toHaveLength(1)
})

test('a late answer does not count for a look-up after its lease', async () => {
  const { find, queries, pass } = setUp()
  const early = find()
  // The answer is on its way when another process revokes the token, and waits until the lease has ended.
  pass(LEASE_MS)
  const late = find()
  queries[0]?.(token)
  queries[1]?.({ ...token, revokedAt: 2 })

  expect(await early).toEqual(token)
  expect(await late).toHaveProperty('revokedAt', 2)
})

test("an answer older than this process's own change is not kept", async () => {
  const { find, forget, queries } = setUp()
  const early = find()
  forget()
  queries[0]?.(token)
  expect(await early).toEqual(token)

  const late = find()
  queries[1]?.({ ...token, revokedAt: 2 })

  expect(await late).toHaveProperty('revokedAt', 2)
  expect(await find()).toHaveProperty('revokedAt', 2)
  expect(queries).toHaveLength(2)
})

test('a token that was not found is looked up again', async () => {
  const { find, queries } = setUp()
  const [early, waiting] = [find(), find()]
  queries[0]?.(null)
  expect(await early).toBeNull()
  queries[1]?.(token)

  expect(await waiting).toEqual(token)
  expect(await find()).toEqual(token)
  expect(queries).toHaveLength(2)
})

test('a look-up does not go through all leases, however many there are', async () => {
  let reads = 0
  const now = () => {
    reads += 1
    return 0
  }
  const leases = createLeases(async () => token, now)
  const find = async (from: number, to: number) => {
    for (let it = from; it < to; it += 1) await leases.find(`token ${it}`)
  }
  await find(0, 2000)
  reads = 0

  await find(2000, 2010)

  expect(reads).toBeLessThan(100)
})
