// Who may do what: bearer tokens (RFC 6750), and their scopes.

import { bearer } from '@elysiajs/bearer'
import { Elysia } from 'elysia'
import { ApiError } from '../errors'
import type { Store } from '../store'
import { allows, hashToken, isValid, LONGEST_TOKEN, type Token } from '../token'
import type { RateLimit } from './rate-limit'

// RFC 6750, section 2.1; the scheme's name is case-insensitive (RFC 9110, section 11.1).
const CREDENTIALS = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i
const SCHEME = /^Bearer(?: |$)/i
// The tokens whose hashes are remembered.
const MOST_HASHES = 1000

/** Where tokens are found. */
export type TokenDeps = {
  readonly store: Pick<Store, 'findToken'>
  /** The token of the configuration, accepted alongside those of the store. */
  readonly configuredToken: () => Token | null
}

type AuthDeps = TokenDeps & {
  readonly store: Pick<Store, 'recordUse'>
  readonly now: () => number
  readonly rateLimit: RateLimit | null
}

/** The token with a hash, valid or not; null if there is none. */
export function findToken({ store, configuredToken }: TokenDeps, hash: string) {
  const configured = configuredToken()
  return hash === configured?.hash ? configured : store.findToken(hash)
}

/** The one form of a header that the plugin reads right: it takes `BearerXtok`, and for `bearer tok` `?access_token=`. */
function checkCredentials(authorization: string | undefined): string {
  if (authorization === undefined) throw new ApiError(40101)
  const token = CREDENTIALS.exec(authorization)?.[1]
  if (token !== undefined && token.length <= LONGEST_TOKEN) return `Bearer ${token}`
  throw new ApiError(SCHEME.test(authorization) ? 40102 : 40101)
}

/**
 * Adds `token` to the context: the one that a request was sent with. Refuses requests without a valid one, and those that
 * its scope does not allow.
 */
export function authenticate(deps: AuthDeps) {
  const { store, configuredToken, now, rateLimit } = deps
  const hashes = new Map<string, string>()
  // For one turn of the event loop: requests that arrive together are checked together, and a revoked token is refused from
  // the next request on.
  const found = new Map<string, { readonly token: Token }>()

  async function find(sent: string): Promise<{ readonly token: Token }> {
    const known = hashes.get(sent)
    const hash = known ?? hashToken(sent)
    const token = await findToken(deps, hash)
    if (!token) throw new ApiError(40102)
    if (!known) hashes.set(sent, hash)
    if (hashes.size > MOST_HASHES) hashes.delete(hashes.keys().next().value ?? '')
    if (token !== configuredToken() && isValid(token, now())) store.recordUse(token, now())
    if (found.size === 0) setImmediate(() => found.clear())
    const identified = { token }
    found.set(sent, identified)
    return identified
  }

  return new Elysia({ name: 'authenticate' })
    .derive({ as: 'scoped' }, ({ headers }) => {
      headers.authorization = checkCredentials(headers.authorization)
    })
    .use(bearer())
    .derive({ as: 'scoped' }, ({ bearer = '' }) => found.get(bearer) ?? find(bearer))
    .onTransform({ as: 'scoped' }, ({ token, request: { method }, route }) => {
      if (!isValid(token, now())) throw new ApiError(40102)
      rateLimit?.spend(token, route)
      const scope = method === 'GET' || method === 'HEAD' ? 'read' : 'write'
      if (!allows(token, scope)) throw new ApiError(40301)
    })
}
