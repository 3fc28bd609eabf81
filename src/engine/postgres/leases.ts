// A short cache of found tokens, so that not every request asks the server.

import type { Token } from '../../token'

/** How long a found token is cached. Revoking one takes as long: by then no process accepts it. */
export const LEASE_MS = 1000

/** A query for a token: others share it, and what it finds, until the lease ends. */
type Lease = { readonly answer: Promise<Token | null>; readonly until: number }

/** `now`: milliseconds of a clock that never goes back. */
export function createLeases(find: (hash: string) => Promise<Token | null>, now: () => number) {
  const leases = new Map<string, Lease>()

  let sweptAt = now()

  // Costs time in proportion to the leases: once per lease time is enough.
  function removeExpired(): void {
    const time = now()
    if (time < sweptAt + LEASE_MS) return
    sweptAt = time
    for (const [hash, lease] of leases) if (lease.until <= time) leases.delete(hash)
  }

  async function ask(hash: string): Promise<Token | null> {
    // Taken before the query: the token may be revoked while the answer is on its way.
    const lease: Lease = { until: now() + LEASE_MS, answer: find(hash) }
    leases.set(hash, lease)
    let token: Token | null = null
    try {
      token = await lease.answer
      removeExpired()
      return token
    } finally {
      if (!token && leases.get(hash) === lease) leases.delete(hash)
    }
  }

  return {
    /** The token with a hash. Those who ask at the same time share a query. */
    async find(hash: string): Promise<Token | null> {
      const lease = leases.get(hash)
      // An answer that is still to come may be older than a revocation that is complete by then.
      if (!lease || now() >= lease.until) return ask(hash)
      // That query may have missed a token made since it was sent; another one does not.
      return (await lease.answer) ?? leases.get(hash)?.answer ?? ask(hash)
    },
    /** Makes the next one who asks see what this process has changed of the token; a query under way may be older. */
    forget(hash: string): void {
      leases.delete(hash)
    },
    forgetAll(): void {
      leases.clear()
    },
  }
}
