import { bearer } from '@elysiajs/bearer'
import { Elysia } from 'elysia'
import { PlantError } from '../errors'
import type { Store } from '../store'
import { allows, hashToken, isValid, type Token } from '../token'

// RFC 6750, section 2.1; the name of the scheme in any case (RFC 9110, section 11.1). No more than 4,096 characters.
const CREDENTIALS = /^Bearer +([A-Za-z0-9\-._~+/]{1,4096}=*) *$/i
const SCHEME = /^Bearer(?: |$)/i

export type AuthDeps = {
  readonly store: Store
  /** A token of the configuration, valid beside those of the store. */
  readonly configuredToken: Token | null
  readonly now: () => number
}

/** Refuses requests without a valid bearer token whose scope allows their method. */
export function authenticate({ store, configuredToken, now }: AuthDeps) {
  return (
    new Elysia({ name: 'authenticate' })
      // The bearer plugin takes `BearerXtok` and `?access_token=`, and refuses `bearer`: it is given the header only
      // where that is exactly as it should be.
      .derive({ as: 'global' }, function checkCredentials({ headers }) {
        const { authorization } = headers
        if (authorization === undefined) throw new PlantError(40101)
        const token = CREDENTIALS.exec(authorization)?.[1]
        if (token === undefined) throw new PlantError(SCHEME.test(authorization) ? 40102 : 40101)
        headers.authorization = `Bearer ${token}`
        return {}
      })
      .use(bearer())
      .derive({ as: 'global' }, async function checkToken({ bearer, request }) {
        const hash = hashToken(bearer ?? '')
        const token = hash === configuredToken?.hash ? configuredToken : await store.findToken(hash)
        if (!token || !isValid(token, now())) throw new PlantError(40102)
        const scope = request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write'
        if (!allows(token, scope)) throw new PlantError(40301)
        return {}
      })
  )
}
