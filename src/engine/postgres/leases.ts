// A short cache of tokens, which saves a query for most requests.

import type { Token } from '../../token/token'

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
