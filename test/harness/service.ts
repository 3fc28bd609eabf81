// The service in the test's own process, over a store that the test makes up or opens.
import { openStore } from '../../src/engine/engine'
import { storeOwner } from '../../src/engine/store-user'
import type { AppDeps } from '../../src/http/deps'
import type { Store } from '../../src/store'
import { configuredToken, serveStore } from '../../tools/service'
import { TOKEN } from './daemon'
import { own } from './own'
import { ownFolder } from './own-folder'

const ignore = () => {}

/** A store with a change log, in a file of its own, for the test file that calls it. */
export function ownStore(): Store {
  const folder = ownFolder()
  return own(
    () => openStore(folder.file('plants.db'), storeOwner(ignore, ignore, 60_000)),
    (store) => store.close(),
  )
}

/** Serves a store. `await using service = serve(…)` ends it. */
export function serve(store: Store, more: Partial<AppDeps> = {}) {
  const token = configuredToken(TOKEN)
  const { url, end } = serveStore(store, { configuredToken: () => token, ...more })
  return {
    url,
    /** Sends a request with a token, of which TOKEN is the default. */
    fetch: (path: string, { token = TOKEN, ...init }: RequestInit & { token?: string } = {}) =>
      fetch(`${url}${path}`, {
        ...init,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      }),
    [Symbol.asyncDispose]: end,
  }
}

/** Serves a store that has only these methods. */
export const serveFake = (store: Partial<Store>, more: Partial<AppDeps> = {}) =>
  serve({ stats: () => ({}), ...store } as Store, more)
