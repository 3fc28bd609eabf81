// Leases of tokens: how long a found token may be accepted after its revocation.
import { expect, test } from 'bun:test'
import { createLeases, LEASE_MS } from '../../../src/engine/postgres/tokens'
import type { Token } from '../../../src/token/token'
import { testedToken } from '../../harness/tested-store'

const TOKEN = testedToken('x')

/** Leases with a fake clock, and the unanswered queries. */
function setUp() {
  let time = 0
  const queries: ((token: Token | null) => void)[] = []
  const leases = createLeases(
    () => new Promise((resolve) => queries.push(resolve)),
    () => time,
  )
  return {
    find: () => leases.find(TOKEN.hash),
    forget: () => leases.forget(TOKEN.hash),
    queries,
    pass(milliseconds: number): void {
      time += milliseconds
    },
  }
}

test('simultaneous look-ups of a token share a query', async () => {
  const { find, queries, pass } = setUp()
  const lookUps = [find(), find()]
  pass(LEASE_MS - 1)
  lookUps.push(find())

  queries[0]?.(TOKEN)

  expect(await Promise.all(lookUps)).toEqual([TOKEN, TOKEN, TOKEN])
  expect(queries).toHaveLength(1)
})

test('a late result is not used for look-ups after its lease', async () => {
  const { find, queries, pass } = setUp()
  const early = find()
  // The answer is on its way when another process revokes the token, and waits until the lease has ended.
  pass(LEASE_MS)
  const late = find()
  queries[0]?.(TOKEN)
  queries[1]?.({ ...TOKEN, revokedAt: 2 })

  expect(await early).toEqual(TOKEN)
  expect(await late).toHaveProperty('revokedAt', 2)
})

test('a result from before a change by this process is not cached', async () => {
  const { find, forget, queries } = setUp()
  const early = find()
  forget()
  queries[0]?.(TOKEN)
  expect(await early).toEqual(TOKEN)

  const late = find()
  queries[1]?.({ ...TOKEN, revokedAt: 2 })

  expect(await late).toHaveProperty('revokedAt', 2)
  expect(await find()).toHaveProperty('revokedAt', 2)
  expect(queries).toHaveLength(2)
})

test('a missing token is looked up again', async () => {
  const { find, queries } = setUp()
  const [early, waiting] = [find(), find()]
  queries[0]?.(null)
  expect(await early).toBeNull()
  queries[1]?.(TOKEN)

  expect(await waiting).toEqual(TOKEN)
  expect(await find()).toEqual(TOKEN)
  expect(queries).toHaveLength(2)
})

test('a look-up does not visit all leases', async () => {
  let reads = 0
  const now = () => {
    reads += 1
    return 0
  }
  const leases = createLeases(async () => TOKEN, now)
  const find = async (from: number, to: number) => {
    for (let index = from; index < to; index += 1) await leases.find(`token ${index}`)
  }
  await find(0, 2000)
  reads = 0

  await find(2000, 2010)

  expect(reads).toBeLessThan(100)
})
