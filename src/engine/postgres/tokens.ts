// The tokens of a store: each one found is cached for a lease, which saves a query for most requests; each change is a
// step of the lane.

import type { Token } from '../../token/token'
import { createTokenChanges } from '../commit/token-writes'
import type { Ask } from './connection/connection'
import type { Step } from './lane/lane'
import { findToken, listTokens, tokensStep } from './sql/tokens'

/** Time for which a token is cached. A revocation takes as long to reach every process. */
export const LEASE_MS = 1000

/** A query for a token, shared by others until the lease ends. */
type Lease = { readonly answer: Promise<Token | null>; readonly until: number }

/** `now`: monotonic time in milliseconds. */
export function createLeases(find: (hash: string) => Promise<Token | null>, now: () => number) {
  // No larger than the table of tokens: unknown ones are forgotten at once.
  const leases = new Map<string, Lease>()

  async function ask(hash: string): Promise<Token | null> {
    // Before the query is sent: the token may be revoked while the answer is on its way.
    const lease: Lease = { until: now() + LEASE_MS, answer: find(hash) }
    leases.set(hash, lease)
    let token: Token | null = null
    try {
      token = await lease.answer
      return token
    } finally {
      if (!token && leases.get(hash) === lease) leases.delete(hash)
    }
  }

  return {
    /** The token with a hash. Simultaneous look-ups share a query. */
    async find(hash: string): Promise<Token | null> {
      const lease = leases.get(hash)
      // An earlier query may be answered after a revocation has completed.
      if (!lease || now() >= lease.until) return ask(hash)
      // That query may have missed a token created since; a new one does not.
      return (await lease.answer) ?? leases.get(hash)?.answer ?? ask(hash)
    },
    /** The next look-up queries the server: this process has changed the token. */
    forget(hash: string): void {
      leases.delete(hash)
    },
    forgetAll(): void {
      leases.clear()
    },
  }
}

/** `run` commits a step, and resolves to its number of tokens. */
export function createTokens(ask: Ask, run: (step: Step<number>) => Promise<number>) {
  const leases = createLeases(
    (hash) => ask((sql) => findToken(sql, hash)),
    () => performance.now(),
  )

  const changes = createTokenChanges(async (statements) => {
    const count = await run(tokensStep(statements))
    // The next look-up sees it.
    leases.forgetAll()
    return count
  })

  return {
    ...changes,
    forget: leases.forget,
    findToken: leases.find,
    listTokens: () => ask(listTokens),
    async revokeToken(name: string, now: number) {
      const isRevoked = await changes.revokeToken(name, now)
      if (isRevoked) await Bun.sleep(LEASE_MS)
      return isRevoked
    },
  }
}
