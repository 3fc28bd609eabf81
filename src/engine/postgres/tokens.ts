// The tokens of a store: each one found is cached for a lease, and each change is a step of the lane.

import type { Tokens } from '../../token/tokens'
import type { Primary } from './connecting/primary'
import type { Refusals } from './connecting/refusals'
import type { Step } from './lane/lane'
import type { Writer } from './lane/writer'
import { createLeases, LEASE_MS } from './leases'
import {
  createTokenStep,
  findToken,
  listTokens,
  pruneTokensStep,
  revokeTokenStep,
} from './sql/tokens'

// A kind of statement, beside those of plants: see refusals.ts.
const TOKEN_CHANGE = 'token change'

type StoredTokens = Omit<Tokens, 'recordUse'> & {
  /** The next look-up of a token asks the server. */
  forget(hash: string): void
}

export function createTokens(primary: Primary, writer: Writer, refusals: Refusals): StoredTokens {
  const ask = primary.reader('tokens')
  const leases = createLeases(
    (hash) => ask((sql) => findToken(sql, hash)),
    () => performance.now(),
  )

  /** Commits a step that changes tokens, and resolves to their number. The next look-up sees it. */
  async function change(step: Step<number>): Promise<number> {
    const result = await writer.run(step).catch((error) => {
      throw refusals.refuse(error, [TOKEN_CHANGE])
    })
    refusals.committed([TOKEN_CHANGE])
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
    pruneTokens: (by) => change(pruneTokensStep(by)),
  }
}
