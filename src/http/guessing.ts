// Finds tokens in the store, and slows down clients that try many invalid ones.

import { networkOf } from '../address'
import { PlantError } from '../errors'
import type { Metrics } from '../metrics'
import type { Store } from '../store'
import { isValid, type Token } from '../token'
import { createBuckets } from './buckets'

const FAILURES_PER_SECOND = 10
const TOO_MANY = 'too many failed credentials from this address; retry shortly'
const MOST_KNOWN = 10_000

export type GuessingDeps = {
  readonly store: Store
  readonly metrics: Metrics
  readonly now: () => number
  readonly clientOf: (request: Request) => string | null
}

/**
 * Makes the function that finds a token by its hash. It looks up ten invalid tokens per second from one address, or one
 * IPv6 network; beyond that, unknown tokens are 42901. A token that was valid at its last lookup is always looked up, so
 * that its client is not held up by others behind the same address.
 */
export function createGuardedFind({ store, metrics, now, clientOf }: GuessingDeps) {
  const failures = createBuckets(FAILURES_PER_SECOND, now)
  const known = new Set<string>()
  // A client's first requests come together, with the same token: they count once.
  const underWay = new Map<string, Promise<Token | null>>()

  async function look(hash: string): Promise<Token | null> {
    const token = await store.findToken(hash)
    if (token && isValid(token, now())) known.add(hash)
    else known.delete(hash)
    const [oldest = ''] = known
    if (known.size > MOST_KNOWN) known.delete(oldest)
    return token
  }

  async function lookCounted(hash: string, network: string): Promise<Token | null> {
    let isFailure = false
    try {
      const token = await look(hash)
      isFailure = !known.has(hash)
      return token
    } finally {
      underWay.delete(hash)
      if (!isFailure) failures.giveBack(network)
    }
  }

  return function findToken(request: Request, hash: string): Promise<Token | null> {
    if (known.has(hash)) return look(hash)
    const started = underWay.get(hash)
    if (started) return started
    const client = clientOf(request)
    if (client === null) return look(hash)
    const network = networkOf(client)
    if (failures.take(network) < 0) {
      metrics.uncheckedCredentials()
      throw new PlantError(42901, TOO_MANY)
    }
    const found = lookCounted(hash, network)
    underWay.set(hash, found)
    return found
  }
}
