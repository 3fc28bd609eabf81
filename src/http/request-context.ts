// The context of a request: its token and log entry, for routes and for the change log.

import { Elysia } from 'elysia'
import type { CreateOptions } from '../plant/plants'
import type { Store } from '../store'
import type { Token } from '../token/token'
import { SETTINGS } from './elysia'
import { type RequestLogEntry, sentId } from './request-log'

export type RequestContext = {
  readonly request: Request
  readonly token: Token | null
  readonly entry: RequestLogEntry | undefined
}

/** Facts that hooks set: `token` once the credentials are checked, `startedAt` and `entry` before. */
type RequestFacts = {
  token: Token | null
  entry: RequestLogEntry | undefined
  /** From `performance.now`. */
  startedAt: number | undefined
}

const NO_FACTS: RequestFacts = { token: null, entry: undefined, startedAt: undefined }

/** An app whose routes and hooks have `token`, `entry` and `startedAt`. */
export const newApp = () => new Elysia(SETTINGS).decorate(NO_FACTS)

/** The app that each room adds its routes or hooks to. */
export type App = ReturnType<typeof newApp>

export type OptionsOf = (context: RequestContext) => CreateOptions

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
