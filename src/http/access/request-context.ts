// The context of a request: its token and log entry, for routes and for the change log.

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
const anonymous: { token: Token | null } & Pick<RequestContext, 'entry'> = {
  token: null,
  entry: undefined,
}

/** Provides `token` and `entry` to routes; hooks of the app set them. */
export const requestContext = () => new Elysia({ name: 'caller' }).decorate(anonymous)

export type OptionsOf = (caller: RequestContext) => CreateOptions

/** Returns the function that makes the options of a change. `clientOf`: the address of a request's client. */
export const createOptionsOf =
  (store: Pick<Store, 'changeLog'>, clientOf: (request: Request) => string | null): OptionsOf =>
  ({ request, token, entry }) => {
    const { signal } = request
    if (!store.changeLog) return { signal }
    const address = entry ? entry.client : clientOf(request)
    const id = entry?.id ?? sentId(request)
    return { signal, origin: { token: token?.name ?? null, address, request: id } }
  }
