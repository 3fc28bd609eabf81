// Stores in databases of a test's PostgreSQL server.

import type { KeepChanges } from '../../src/change-log/change-log'
import type { DatabaseSecrets } from '../../src/engine/database-url'
import { openStore } from '../../src/engine/engine'
import { type PostgresTarget, parsePostgresUrl } from '../../src/engine/postgres/connection/url'
import { storeOwner } from '../../src/engine/store-user'
import type { ErrorName } from '../../src/request-errors'
import type { Store } from '../../src/store'
import type { PostgresServer } from '../../tools/postgres/server'
import type { TestedStore } from './tested-store'

export const NO_SECRETS: DatabaseSecrets = { databasePassword: null, databasePasswordFile: null }

export const targetOf = (url: string): PostgresTarget => parsePostgresUrl(url, NO_SECRETS)

/** A logged event of a store. */
export type Logged = { readonly event: string; readonly [field: string]: unknown }

/** Opens a store like a daemon. */
export const openAt = (
  url: string,
  events: Logged[] = [],
  keep: KeepChanges = null,
): Promise<Store> =>
  openStore(
    url,
    storeOwner(
      (_, event, fields) => events.push({ event, ...fields }),
      () => {},
      keep,
    ),
  )

/** The name of the error that a store rejects with; null if it resolves. */
export const errorOf = (request: Promise<unknown>): Promise<ErrorName | null> =>
  request.then(
    () => null,
    ({ error }) => error,
  )

let databases = 0

/** Makes an empty database; resolves to its URL. */
export function newDatabase(server: PostgresServer): Promise<string> {
  databases += 1
  return server.createDatabase(`plants_${databases}`)
}

/** An empty store in a new database. */
export async function openTested(server: PostgresServer): Promise<TestedStore> {
  const url = await newDatabase(server)
  let store = await openAt(url)
  return {
    store,
    async reopen() {
      await store.close()
      store = await openAt(url)
      return store
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
}
