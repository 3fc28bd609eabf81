// A client of plantstore for browsers, Node, Deno and Bun: exact ids, errors as values.

import { createInBatches, type Plants } from './batches.ts'
import { changesAfter, copyOf, type FollowQuery } from './changes.ts'
import {
  changeText,
  digitsOf,
  plantText,
  toChangePage,
  toCreated,
  toDeleted,
  toHealth,
  toHistoryPage,
  toNewPlant,
  toOwnToken,
  toPage,
  toPatched,
  toPlant,
  toPutCounts,
  toStatus,
  toTagPage,
} from './json.ts'
import {
  type CallOptions,
  type ChangeOptions,
  ClientError,
  type ReadOptions,
  type Result,
} from './result.ts'
import { type Call, type Fetch, type Sender, send } from './send.ts'
import type {
  ChangesQuery,
  ListQuery,
  NewPlant,
  PlantChange,
  PlantUpdate,
  TagsQuery,
} from './types.ts'

export type { BatchOutcome, Plants, Refusal } from './batches.ts'
export type { Followed } from './changes.ts'
export { ERRORS, type KnownError } from './contract.ts'
export type * from './result.ts'
export { ClientError } from './result.ts'
export type { Fetch } from './send.ts'
export type * from './types.ts'

export type ClientOptions = {
  /** The address of the daemon, with its path prefix if it has one. */
  readonly url: string | URL
  readonly token: string
  /** Replaces the platform's `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Maximum number of retries; default: 3; 0 for never. */
  readonly retries?: number | undefined
}

export type Client = ReturnType<typeof createClient>

/** Sends a request to the address of a client, with its token. */
type Send = <T>(
  method: Call<T>['method'],
  path: string,
  more: Omit<Call<T>, 'method' | 'path'>,
) => Promise<Result<T>>

/**
 * Makes a client. Throws a TypeError for an address or a token that no request can have. Its methods never throw: they
 * reject.
 */
export function createClient({ url, token, fetch, retries = 3 }: ClientOptions) {
  if (!(retries >= 0)) throw new TypeError('retries must be a number from 0 on')
  const sender: Sender = {
    base: folderOf(url),
    headers: new Headers({ authorization: `Bearer ${token}` }),
    fetch: fetch ?? ((address, init) => globalThis.fetch(address, init)),
    retries,
  }
  const call: Send = (method, path, more) => send(sender, { method, path, ...more })
  const plants = plantCalls(call)
  return {
    ...onePlantCalls(call),
    ...plants,
    ...tagCalls(call),
    ...changeLogCalls(sender, call, plants.listPlants),
    ...serviceCalls(call),
  }
}

function plantCalls(call: Send) {
  const listPlants = async (query: ListQuery = {}, options: CallOptions = {}) =>
    call('GET', 'plants', { query: searchOf(query), read: toPage, ...options })

  const callMany = <T>(
    method: Call<T>['method'],
    path: string,
    read: Call<T>['read'],
    texts: readonly string[],
    options: CallOptions & { readonly isRepeatable?: boolean },
  ) => call(method, path, { body: `{"plants":[${texts.join(',')}]}`, read, ...options })

  return {
    /** Creates 1 to 1000 plants: all or none. */
    createPlants: async (plants: readonly NewPlant[], options: CallOptions = {}) =>
      callMany('POST', 'plants/batch', toCreated, plants.map(plantText), options),

    /** Creates those of 1 to 1000 plants that are new, and replaces those that differ: all or none. */
    putPlants: async (plants: readonly NewPlant[], options: CallOptions = {}) =>
      callMany('PUT', 'plants/batch', toPutCounts, plants.map(plantText), options),

    /** Changes the given fields of 1 to 1000 plants, and creates those that are new and have a name, in one commit. */
    patchPlants: async (updates: readonly PlantUpdate[], options: CallOptions = {}) =>
      callMany('PATCH', 'plants/batch', toPatched, updates.map(changeText), options),

    /** Deletes those of 1 to 1000 plants that are stored with exactly these fields; leaves those that differ. */
    deletePlants: async (plants: readonly NewPlant[], options: CallOptions = {}) =>
      callMany('POST', 'plants/batch-delete', toDeleted, plants.map(plantText), options),

    /** Creates any number of plants, and yields the outcome of each batch. Throws a {@link ClientError}. */
    createAll: <P extends NewPlant>(plants: Plants<P>, options: CallOptions = {}) => {
      // If a batch was stored and its answer lost, its plants count as known.
      const repeatable = { isRepeatable: true, ...options }
      return createInBatches(
        {
          createPlants: (texts) => callMany('POST', 'plants/batch', toCreated, texts, repeatable),
          patchPlants: (texts) => callMany('PATCH', 'plants/batch', toPatched, texts, repeatable),
        },
        plants,
      )
    },

    /** A page of plants, in ascending order of ids by default. */
    listPlants,

    /** Every plant, page by page; `limit` is the size of a page. Throws a {@link ClientError}. */
    async *plants(
      query: ListQuery = {},
      options: CallOptions = {},
    ): AsyncGenerator<NewPlant, void, void> {
      let { after, limit = 1000 } = query
      while (true) {
        const page = await listPlants({ ...query, limit, after }, options)
        if (!page.ok) throw new ClientError(page)
        yield* page.value.plants
        if (page.value.next === null) return
        after = page.value.next
      }
    },
  }
}

const tagCalls = (call: Send) => ({
  /** A page of the tags that plants have, each with the number of its plants. The empty tag is one. */
  listTags: async (query: TagsQuery = {}, options: CallOptions = {}) =>
    call('GET', 'tags', { query: searchOf(query), read: toTagPage, ...options }),
})

function changeLogCalls(
  sender: Sender,
  call: Send,
  listPlants: ReturnType<typeof plantCalls>['listPlants'],
) {
  const listChanges = async (query: ChangesQuery = {}, options: CallOptions = {}) =>
    call('GET', 'plants/changes', { query: searchOf(query), read: toChangePage, ...options })

  return {
    /** A page of the change log, the oldest first. */
    listChanges,

    /**
     * Every change after a cursor, past and future; reconnects after any loss of connection. `after: 'now'`: only
     * future ones; without `after`: from the oldest that is kept. Throws a {@link ClientError} if it cannot go on; ends
     * when aborted.
     */
    changes: (query: FollowQuery = {}) => changesAfter(sender, query),

    /** A page of the changes of all plants, newest first. */
    listHistory: async (query: ChangesQuery = {}, options: CallOptions = {}) =>
      call('GET', 'plants/history', { query: searchOf(query), read: toHistoryPage, ...options }),

    /** A page of the changes of one plant, newest first, even of a deleted plant. */
    history: async (id: bigint, query: ChangesQuery = {}, options: CallOptions = {}) =>
      call('GET', `plants/${digitsOf(id)}/history`, {
        query: searchOf(query),
        read: toHistoryPage,
        ...options,
      }),

    /** Every plant, then every change, without end: keeps a copy exact. Throws and ends like `changes`. */
    follow: (options: CallOptions = {}) =>
      copyOf(
        {
          end: () => listChanges({ after: 'now' }, options),
          page: (after) => listPlants({ after, limit: 1000 }, options),
          changesAfter: (cursor) => changesAfter(sender, { ...options, after: cursor }),
        },
        options,
      ),
  }
}

function onePlantCalls(call: Send) {
  /** Reads a plant, with its `etag`; null if it still has the one in `ifNoneMatch`. */
  function readPlant(
    id: bigint,
    options?: CallOptions & { readonly ifNoneMatch?: never },
  ): Promise<Result<NewPlant>>
  function readPlant(id: bigint, options: ReadOptions): Promise<Result<NewPlant | null>>
  async function readPlant(id: bigint, options: ReadOptions = {}) {
    const isKnown = (status: number) => status === 304 && options.ifNoneMatch !== undefined
    return call<NewPlant | null>('GET', `plants/${digitsOf(id)}`, {
      read: (body, status) => (isKnown(status) ? null : toNewPlant(body)),
      ...options,
    })
  }

  return {
    /** Creates a plant. Sent again after no response; 40901 then means that the first attempt was stored. */
    createPlant: async (plant: NewPlant, options: CallOptions = {}) => {
      const retry = { isRepeatable: true, earlierSuccess: toPlant(plant) }
      return call('POST', 'plants', { body: plantText(plant), read: toPlant, ...retry, ...options })
    },

    readPlant,

    /** Replaces all fields of a plant: an omitted optional text is removed. */
    replacePlant: async (plant: NewPlant, options: ChangeOptions = {}) => {
      const body = plantText(plant)
      return call('PUT', `plants/${digitsOf(plant.id)}`, { body, read: toNewPlant, ...options })
    },

    /** Changes the given fields; null removes an optional text. */
    patchPlant: async (id: bigint, change: PlantChange, options: ChangeOptions = {}) => {
      const body = changeText(change)
      return call('PATCH', `plants/${digitsOf(id)}`, { body, read: toNewPlant, ...options })
    },

    /** Deletes a plant. */
    deletePlant: async (id: bigint, options: ChangeOptions = {}) =>
      call('DELETE', `plants/${digitsOf(id)}`, {
        read: (_, status) => (status === 204 ? null : undefined),
        ...options,
      }),
  }
}

const serviceCalls = (call: Send) => ({
  /** The name, scope and expiry of the client's token, and whether a change log is kept. */
  readToken: async (options: CallOptions = {}) =>
    call('GET', 'token', { read: toOwnToken, ...options }),

  /** The state of the service: whether it can write, its plants, its last backup. */
  readStatus: async (options: CallOptions = {}) =>
    call('GET', 'status', { read: toStatus, ...options }),

  /** True if the service can write: 50302 if it cannot. Needs no token. */
  health: async (options: CallOptions = {}) =>
    call('GET', 'health', { read: toHealth, ...options }),
})

// With a slash at its end, so that relative URLs are resolved below it, not beside it.
function folderOf(url: string | URL): URL {
  const folder = new URL(url)
  const { protocol, username, password } = folder
  if (!['http:', 'https:'].includes(protocol) || username || password)
    throw new TypeError('the url must begin with http:// or https://, without a user or password')
  if (!folder.pathname.endsWith('/')) folder.pathname += '/'
  return folder
}

function searchOf(query: ListQuery | ChangesQuery | TagsQuery): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? []].flat()) search.append(name, String(one))
  }
  return search.toString()
}
