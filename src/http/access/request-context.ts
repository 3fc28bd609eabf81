// Who sent a request: what a route knows of it, and what the change log keeps.

import { Elysia } from 'elysia'
import type { CreateOptions } from '../../plant/plants'
import type { Store } from '../../store'
import type { Token } from '../../token/token'
import { type RequestLogEntry, sentId } from './request-log'

export type RequestContext = {
  readonly request: Request
  readonly token: Token | null
  readonly entry: RequestLogEntry | undefined
}

// `token` is set by the hook that checks the credentials.
const nobody: { token: Token | null } & Pick<RequestContext, 'entry'> = {
  token: null,
  entry: undefined,
}

/** Gives routes `token` and `entry`; hooks of the app set them. */
export const requestContext = () => new Elysia({ name: 'caller' }).decorate(nobody)

export type OptionsOf = (caller: RequestContext) => CreateOptions

/** Makes the function that gives a change its options. `clientOf`: the address of the client that sent a request. */
export const createOptionsOf =
  (store: Pick<Store, 'changeLog'>, clientOf: (request: Request) => string | null): OptionsOf =>
  ({ request, token, entry }) => {
    const { signal } = request
    if (!store.changeLog) return { signal }
    const address = entry ? entry.client : clientOf(request)
    const id = entry?.id ?? sentId(request)
    return { signal, origin: { token: token?.name ?? null, address, request: id } }
  }
