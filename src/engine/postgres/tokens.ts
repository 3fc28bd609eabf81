// The tokens of a store: each one found is cached for a lease, and each change is a step of the lane.

import type { Tokens } from '../../token/tokens'
import type { Ask } from './connection/connection'
import type { Step } from './lane/lane'
import { createLeases, LEASE_MS } from './leases'
import {
  createTokenStep,
  findToken,
  listTokens,
  pruneTokensStep,
  revokeTokenStep,
} from './sql/tokens'

type StoredTokens = Omit<Tokens, 'recordUse'> & {
  /** The next look-up of a token asks the server. */
  forget(hash: string): void
}

/** `run` commits a step, and resolves to its number of tokens. */
export function createTokens(ask: Ask, run: (step: Step<number>) => Promise<number>): StoredTokens {
  const leases = createLeases(
    (hash) => ask((sql) => findToken(sql, hash)),
    () => performance.now(),
  )

  /** Commits a step that changes tokens. The next look-up sees it. */
  async function change(step: Step<number>): Promise<number> {
    const result = await run(step)
    leases.forgetAll()
    return result
  }

  return {
    forget: leases.forget,
    findToken: leases.find,
    createToken: async (token) => (await change(createTokenStep(token))) > 0,
    listTokens: () => ask(listTokens),
    async revokeToken(name, now) {
      const count = await change(revokeTokenStep(name, now))
      if (count > 0) await Bun.sleep(LEASE_MS)
      return count > 0
    },
    pruneTokens: (endedBy) => change(pruneTokensStep(endedBy)),
  }
}
