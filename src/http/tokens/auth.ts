// Authentication by bearer tokens (RFC 6750), and their scopes.

import { bearer } from '@elysiajs/bearer'
import { RequestError } from '../../request-errors'
import { allows, hashToken, isValid, type Token } from '../../token/token'
import type { AppDeps } from '../deps'
import type { App } from '../exchange'
import { createRateLimit } from './rate-limit'

// RFC 6750, section 2.1; the scheme's name is case-insensitive (RFC 9110, section 11.1).
const SCHEME = /^Bearer(?: |$)/i
const CREDENTIALS = /^ *([A-Za-z0-9\-._~+/]+=*) *$/

/** The token with a hash, valid or not; null if there is none. */
export async function findToken({ store, configuredToken }: AppDeps, hash: string) {
  const configToken = configuredToken()
  return hash === configToken?.hash ? configToken : store.findToken(hash)
}

/**
 * Normalizes a header for the plugin, which reads `tok` from `BearerXtok`, nothing from `bearer tok`, and without a
 * scheme `?access_token=`. `no credentials`: no header, or another scheme.
 */
function checkScheme(authorization = ''): string {
  if (!SCHEME.test(authorization)) throw new RequestError('no credentials')
  return `Bearer${authorization.slice('Bearer'.length)}`
}

/** Sets `token` for the routes that follow. Refuses requests without a valid token, or beyond its scope. */
export function authenticate(deps: AppDeps) {
  const { store, configuredToken, now } = deps
  const spend = deps.rateLimit === null ? null : createRateLimit(deps.rateLimit, now)
  // Cached for one turn of the event loop: simultaneous requests are checked once, and a revoked token is refused from
  // the next request on.
  const tokenCache = new Map<string, Token>()

  async function find(credentials: string): Promise<Token> {
    const text = CREDENTIALS.exec(credentials)?.[1]
    const token = text === undefined ? null : await findToken(deps, hashToken(text))
    if (!token) throw new RequestError('invalid token')
    if (token !== configuredToken() && isValid(token, now())) store.recordUse(token, now())
    if (tokenCache.size === 0) setImmediate(() => tokenCache.clear())
    tokenCache.set(credentials, token)
    return token
  }

  return (app: App) =>
    app
      .onTransform(function requireScheme({ headers }) {
        const { authorization } = headers
        if (!authorization?.startsWith('Bearer '))
          headers.authorization = checkScheme(authorization)
      })
      .use(bearer())
      .onTransform(async ({ bearer = '', exchange }) => {
        const { route, request } = exchange
        const { method } = request
        const token = tokenCache.get(bearer) ?? (await find(bearer))
        // Before the checks: the request log names the token of a refused request too.
        exchange.token = token
        if (!isValid(token, now())) throw new RequestError('invalid token')
        // Monitoring works even when a token has used up its limit.
        if (route !== '/metrics') spend?.(token)
        const scope = method === 'GET' || method === 'HEAD' ? 'read' : 'write'
        if (!allows(token, scope)) throw new RequestError('read-only token')
      })
}
