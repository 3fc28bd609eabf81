// Who may do what: bearer tokens (RFC 6750), and their scopes.

import { bearer } from '@elysiajs/bearer'
import { Elysia } from 'elysia'
import { PlantError } from '../errors'
import { allows, hashToken, isValid, LONGEST_TOKEN, type Token } from '../token'
import type { RateLimit } from './rate-limit'
import type { RequestLog } from './request-log'

// RFC 6750, section 2.1; the scheme's name is case-insensitive (RFC 9110, section 11.1).
const CREDENTIALS = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i
const SCHEME = /^Bearer(?: |$)/i

export type AuthDeps = {
  /** The token of the configuration, accepted alongside those of the store. */
  readonly configuredToken: () => Token | null
  readonly now: () => number
  readonly requestLog: RequestLog | null
  readonly rateLimit: RateLimit | null
  /** The token of the store with this hash. */
  readonly findToken: (request: Request, hash: string) => Promise<Token | null>
  /** Records that a token of the store was used. */
  readonly recordUse: (token: Token, now: number) => void
}

// The plugin accepts `BearerXtok` and `?access_token=`, and refuses `bearer`, so it only gets to see a header in one form.
function normalizeCredentials(authorization: string | undefined): string {
  if (authorization === undefined) throw new PlantError(40101)
  const token = CREDENTIALS.exec(authorization)?.[1]
  if (token !== undefined && token.length <= LONGEST_TOKEN) return `Bearer ${token}`
  throw new PlantError(SCHEME.test(authorization) ? 40102 : 40101)
}

function requireScope(token: Token, method: string): void {
  const scope = method === 'GET' || method === 'HEAD' ? 'read' : 'write'
  if (!allows(token, scope)) throw new PlantError(40301)
}

/** Refuses requests without a valid bearer token whose scope allows their method. */
export function authenticate(deps: AuthDeps) {
  const { configuredToken, now, requestLog, rateLimit, findToken, recordUse } = deps
  // Tokens by their text, for one turn of the event loop: requests that arrive together are checked together, and a
  // revoked token is refused from the next request on.
  const found = new Map<string, Token>()

  async function find(request: Request, text: string): Promise<Token> {
    const hash = hashToken(text)
    const configured = configuredToken()
    const token = hash === configured?.hash ? configured : await findToken(request, hash)
    if (!token) throw new PlantError(40102)
    if (token !== configured && isValid(token, now())) recordUse(token, now())
    if (found.size === 0) setImmediate(() => found.clear())
    found.set(text, token)
    return token
  }

  return new Elysia({ name: 'authenticate' })
    .onTransform({ as: 'scoped' }, function guardHeader({ headers }) {
      headers.authorization = normalizeCredentials(headers.authorization)
    })
    .use(bearer())
    .onTransform(
      { as: 'scoped' },
      async function checkCredentials({ bearer = '', request, route }) {
        const token = found.get(bearer) ?? (await find(request, bearer))
        requestLog?.identify(request, token.name)
        if (!isValid(token, now())) throw new PlantError(40102)
        // Monitoring must work even when a token has used up its limit.
        if (rateLimit && route !== '/metrics') rateLimit.spend(request, token)
        requireScope(token, request.method)
      },
    )
}
