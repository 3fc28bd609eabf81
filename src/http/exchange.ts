// The facts about a request, for hooks, routes and the change log.

import { Elysia } from 'elysia'
import type { CreateOptions } from '../plant/plants'
import type { Token } from '../token/token'
import type { AppDeps } from './deps'
import { SETTINGS, type SentHeaders } from './elysia'

/** A request while it is answered. */
export type Exchange = {
  readonly request: Request
  /** Cheaper to read than those of `request`. */
  readonly headers: SentHeaders
  /** The pattern of its path. */
  readonly route: string
  /** From `performance.now`. */
  readonly startedAt: number
  /** The id of a logged request, and its client's address; null if it has none. Undefined unless requests are logged. */
  readonly record: { readonly id: string; readonly client: string | null } | undefined
  /** Null until the credentials are checked. */
  token: Token | null
}

/** An app whose first hook sets `exchange`. */
export const newApp = () => new Elysia(SETTINGS).decorate({} as { exchange: Exchange })

/** The app that each room adds its routes or hooks to. */
export type App = ReturnType<typeof newApp>

const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The request's id as sent by a client or a proxy; null if there is none, or it is malformed. */
export function sentId({ 'x-request-id': id = '' }: SentHeaders): string | null {
  return SANE_ID.test(id) ? id : null
}

/** Returns the function that makes the options of a change. */
export const createOptionsOf =
  ({ store, clientOf }: AppDeps) =>
  ({ request, headers, record, token }: Exchange): CreateOptions => {
    const { signal } = request
    if (!store.changeLog) return { signal }
    const { id, client } = record ?? { id: sentId(headers), client: clientOf(request) }
    return { signal, origin: { token: token?.name ?? null, address: client, request: id } }
  }
