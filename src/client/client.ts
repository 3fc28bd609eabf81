// A client of plantstore for browsers, Node, Deno and Bun: exact ids, errors as values.

import { type BatchOutcome, createInBatches, type Plants } from './batches.ts'
import { digitsOf, plantText, toCreated, toNewPlant, toPage, toPlant } from './json.ts'
import { type CallOptions, type ChangeOptions, ClientError, type Result } from './result.ts'
import { type Call, type Fetch, type Sender, send } from './send.ts'
import type { Created, ListQuery, NewPlant, Plant, PlantChange, PlantPage } from './types.ts'

export type { BatchOutcome, Plants, Refusal } from './batches.ts'
export {
  type CallOptions,
  type ChangeOptions,
  ClientError,
  type Failure,
  type Result,
  type Success,
} from './result.ts'
export type { Fetch } from './send.ts'
export type {
  Created,
  KnownError,
  ListQuery,
  NewPlant,
  Plant,
  PlantChange,
  PlantPage,
} from './types.ts'

export type ClientOptions = {
  /** The address of the daemon, with its path prefix if it has one. */
  readonly url: string | URL
  readonly token: string
  /** Replaces the platform's `fetch`. */
  readonly fetch?: Fetch
  /** How often a request may be sent again; default: 3; 0 for never. */
  readonly retries?: number
}

export type Client = ReturnType<typeof createClient>

/** Makes a client. Throws a TypeError for a URL or a token that no request can hold. */
export function createClient({ url, token, fetch, retries = 3 }: ClientOptions) {
  const sender: Sender = {
    base: folderOf(url),
    headers: new Headers({ authorization: `Bearer ${token}` }),
    fetch: fetch ?? ((to, init) => globalThis.fetch(to, init)),
    retries,
  }
  const call = <T>(
    method: Call<T>['method'],
    path: string,
    more: Omit<Call<T>, 'method' | 'path'>,
  ) => send(sender, { method, path, ...more })

  const listPlants = (
    query: ListQuery = {},
    options: CallOptions = {},
  ): Promise<Result<PlantPage>> =>
    call('GET', 'plants', { query: searchOf(query), read: toPage, ...options })

  const createBatch = (
    texts: readonly string[],
    options: CallOptions & { readonly isRepeatable?: boolean },
  ): Promise<Result<Created>> => {
    const body = `{"plants":[${texts.join(',')}]}`
    return call('POST', 'plants/batch', { body, read: toCreated, ...options })
  }

  return {
    /** Creates a plant. It is sent again if no answer came; 40901 then means that the first attempt was stored. */
    createPlant: (plant: NewPlant, options: CallOptions = {}): Promise<Result<Plant>> => {
      const again = { isRepeatable: true, landed: withoutId(plant) }
      return call('POST', 'plants', { body: plantText(plant), read: toPlant, ...again, ...options })
    },

    /** Creates 1 to 1000 plants: all or none. */
    createPlants: (
      plants: readonly NewPlant[],
      options: CallOptions = {},
    ): Promise<Result<Created>> => createBatch(plants.map(plantText), options),

    /** Creates any number of plants, and yields the outcome of each batch. Throws a {@link ClientError}. */
    createAll: <P extends NewPlant>(
      plants: Plants<P>,
      options: CallOptions = {},
    ): AsyncGenerator<BatchOutcome<P>, void, void> => {
      // If a batch was stored and its answer lost, its plants count as known.
      const createPlants = (texts: readonly string[]) =>
        createBatch(texts, { isRepeatable: true, ...options })
      return createInBatches(
        { createPlants, listPlants: (query) => listPlants(query, options) },
        plants,
      )
    },

    /** Reads a plant, with its `etag`. */
    readPlant: (id: bigint, options: CallOptions = {}): Promise<Result<NewPlant>> =>
      call('GET', `plants/${digitsOf(id)}`, { read: toNewPlant, ...options }),

    /** A page of plants, in ascending order. */
    listPlants,

    /** Every plant, page by page; `limit` is the size of a page. Throws a {@link ClientError}. */
    async *plants(
      { after, ...query }: ListQuery = {},
      options: CallOptions = {},
    ): AsyncGenerator<NewPlant, void, void> {
      for (let next = after; ; ) {
        const from = next === undefined ? {} : { after: next }
        const page = await listPlants({ limit: 1000, ...query, ...from }, options)
        if (!page.ok) throw new ClientError(page)
        yield* page.value.plants
        if (page.value.next === null) return
        next = page.value.next
      }
    },

    /** Replaces all fields of a plant: a tag that is not given is removed. */
    replacePlant: (plant: NewPlant, options: ChangeOptions = {}): Promise<Result<NewPlant>> => {
      const body = plantText(plant)
      return call('PUT', `plants/${digitsOf(plant.id)}`, { body, read: toNewPlant, ...options })
    },

    /** Changes the fields that are given; a tag that is null is removed. */
    patchPlant: (
      id: bigint,
      { name, tag }: PlantChange,
      options: ChangeOptions = {},
    ): Promise<Result<NewPlant>> => {
      const body = JSON.stringify({ name, tag })
      return call('PATCH', `plants/${digitsOf(id)}`, { body, read: toNewPlant, ...options })
    },

    /** Deletes a plant. */
    deletePlant: (id: bigint, options: ChangeOptions = {}): Promise<Result<null>> =>
      call('DELETE', `plants/${digitsOf(id)}`, {
        read: (_, status) => (status === 204 ? null : undefined),
        ...options,
      }),
  }
}

// With a slash at its end, so that relative URLs are resolved below it, not beside it.
function folderOf(url: string | URL): URL {
  const folder = new URL(url)
  if (!folder.pathname.endsWith('/')) folder.pathname += '/'
  return folder
}

function searchOf(query: ListQuery): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value))
  }
  return search.toString()
}

const withoutId = ({ name, tag }: NewPlant): Plant => (tag === undefined ? { name } : { name, tag })
