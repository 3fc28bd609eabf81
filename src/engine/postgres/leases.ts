// A short cache of found tokens, so that not every request asks the server.

import type { Token } from '../../token'

/** How long a found token is cached. Revoking one takes as long: by then no process accepts it. */
export const LEASE_MS = 1000

// With more leases than this, those that have expired are removed.
const ROOMY = 1000

/** `now`: milliseconds of a clock that never goes back. */
export function createLeases(find: (hash: string) => Promise<Token | null>, now: () => number) {
  const leases = new Map<string, { readonly token: Token; readonly until: number }>()
  const asked = new Map<
    string,
    { readonly answer: Promise<Token | null>; readonly until: number }
  >()

  function keep(hash: string, token: Token, until: number): void {
    if (leases.size >= ROOMY) {
      for (const [other, lease] of leases) if (lease.until <= now()) leases.delete(other)
    }
    leases.set(hash, { token, until })
  }

  async function ask(hash: string): Promise<Token | null> {
    // Taken before the query: the token may be revoked while the answer is on its way.
    const until = now() + LEASE_MS
    const asking = { answer: find(hash), until }
    asked.set(hash, asking)
    try {
      const token = await asking.answer
      // If it was forgotten meanwhile, the answer may be older than the change.
      if (token && asked.get(hash) === asking) keep(hash, token, until)
      return token
    } finally {
      if (asked.get(hash) === asking) asked.delete(hash)
    }
  }

  return {
    /** The token with a hash. Those who ask at the same time share a query. */
    async find(hash: string): Promise<Token | null> {
      const lease = leases.get(hash)
      if (lease && now() < lease.until) return lease.token
      const asking = asked.get(hash)
      // The answer may be older than a revocation that is complete by now.
      if (!asking || now() >= asking.until) return ask(hash)
      // That query may have missed a token made since it was sent; another one does not.
      return (await asking.answer) ?? asked.get(hash)?.answer ?? ask(hash)
    },
    /** Makes the next one who asks see what this process has changed of the token. */
    forget(hash: string): void {
      leases.delete(hash)
      asked.delete(hash)
    },
    forgetAll(): void {
      leases.clear()
      asked.clear()
    },
  }
}
