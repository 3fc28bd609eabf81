import { bearer } from '@elysiajs/bearer'
import { Elysia } from 'elysia'
import { PlantError } from '../errors'
import type { Store } from '../store'
import { allows, hashToken, isValid, LONGEST_TOKEN, type Token } from '../token'

// RFC 6750, section 2.1; the name of the scheme in any case (RFC 9110, section 11.1).
const CREDENTIALS = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i
const SCHEME = /^Bearer(?: |$)/i

export type AuthDeps = {
  readonly store: Store
  /** A token of the configuration, valid beside those of the store. */
  readonly configuredToken: Token | null
  readonly now: () => number
}

type Extract = (context: { query: Record<string, never>; headers: { authorization: string } }) => {
  readonly bearer: string
}

// The extraction of the bearer plugin. Used as a plugin it would have Elysia copy all headers and parse the URL of
// each request, for a query that is not looked at: a tenth of the instructions of a create.
const extraction = (): Extract => bearer().event.transform?.[0]?.fn as unknown as Extract

// The plugin takes `BearerXtok` and `?access_token=`, and refuses `bearer`: so it is given nothing but a header, and
// that only where it is exactly as it should be.
function readToken(authorization: string | null, extract: Extract): string {
  if (authorization === null) throw new PlantError(40101)
  const token = CREDENTIALS.exec(authorization)?.[1]
  if (token === undefined || token.length > LONGEST_TOKEN)
    throw new PlantError(SCHEME.test(authorization) ? 40102 : 40101)
  return extract({ query: {}, headers: { authorization: `Bearer ${token}` } }).bearer
}

function check(token: Token, method: string, now: number): void {
  if (!isValid(token, now)) throw new PlantError(40102)
  const scope = method === 'GET' || method === 'HEAD' ? 'read' : 'write'
  if (!allows(token, scope)) throw new PlantError(40301)
}

/** Refuses requests without a valid bearer token whose scope allows their method. */
export function authenticate({ store, configuredToken, now }: AuthDeps) {
  // Tokens by the header that holds them, for one turn of the event loop: the requests that it reads together are
  // checked together, and a token that was revoked is refused from the next request on.
  const found = new Map<string, Token>()
  const extract = extraction()

  async function find(authorization: string | null): Promise<Token> {
    const hash = hashToken(readToken(authorization, extract))
    const token = hash === configuredToken?.hash ? configuredToken : await store.findToken(hash)
    if (!token) throw new PlantError(40102)
    if (found.size === 0) setImmediate(() => found.clear())
    found.set(authorization ?? '', token)
    return token
  }

  return new Elysia({ name: 'authenticate' }).onTransform(
    { as: 'scoped' },
    async function checkCredentials({ request }) {
      const authorization = request.headers.get('authorization')
      const token = found.get(authorization ?? '') ?? (await find(authorization))
      check(token, request.method, now())
    },
  )
}
