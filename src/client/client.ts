// A client of plantstore for browsers, Node, Deno and Bun: exact ids, typed by the description, errors as values.

import { type BatchOutcome, createInBatches } from './batches.ts'
import { digitsOf, fieldsOf, plantText, toNewPlant, toPage, toPlant } from './json.ts'
import { type CallOptions, ClientError, type Result } from './result.ts'
import { type Fetch, type Sender, send } from './send.ts'
import type { Created, ListPlantsQuery, NewPlant, Operation, Plant, PlantPage } from './types.ts'

export type { BatchOutcome, Refusal } from './batches.ts'
export { type CallOptions, ClientError, type Failure, type Result, type Success } from './result.ts'
export type { Fetch } from './send.ts'
export type { Created, KnownError, NewPlant, Plant, PlantPage } from './types.ts'

export type ClientOptions = {
  /** Where the daemon is; a path in it is kept. */
  readonly url: string | URL
  readonly token: string
  /** In the place of the platform's `fetch`. */
  readonly fetch?: Fetch
  /** How often a request may be sent again; 3 if not given, 0 for never. */
  readonly retries?: number
}

export type ChangeOptions = CallOptions & {
  /** The `etag` that the plant must still have: 41201 if it was changed since. */
  readonly ifMatch?: string
}

export type ListQuery = Omit<ListPlantsQuery, 'after'> & {
  /** Only what comes behind this id, or behind the page whose `next` it is. */
  readonly after?: bigint | string
}

export type Client = ReturnType<typeof createClient>

/** Makes a client. Throws a TypeError for a URL or a token that no request can have. */
export function createClient({ url, token, fetch, retries = 3 }: ClientOptions) {
  const sender: Sender = {
    base: folderOf(url),
    token,
    fetch: fetch ?? ((to, init) => globalThis.fetch(to, init)),
    retries,
  }
  new Headers({ authorization: `Bearer ${token}` })

  const listPlants = (
    query: ListQuery = {},
    { signal }: CallOptions = {},
  ): Promise<Result<PlantPage>> =>
    send(sender, {
      method: 'GET',
      path: 'plants',
      query: searchOf(query),
      signal,
      read: toPage,
      repeatable: true,
    })

  const createBatch = (
    plants: readonly NewPlant[],
    { signal }: CallOptions,
    repeatable: boolean,
  ): Promise<Result<Created>> =>
    send(sender, {
      method: 'POST',
      path: 'plants/batch',
      body: `{"plants":[${plants.map(plantText).join(',')}]}`,
      signal,
      read: toCreated,
      repeatable,
    })

  return {
    /** Creates a plant. It is sent again when no answer came, and 40901 then says that it was stored before. */
    createPlant: (plant: NewPlant, { signal }: CallOptions = {}): Promise<Result<Plant>> =>
      send(sender, {
        method: 'POST',
        path: 'plants',
        body: plantText(plant),
        signal,
        read: toPlant,
        repeatable: true,
        landed: withoutId(plant),
      }),

    /** Creates 1 to 1000 plants: all or none. */
    createPlants: (
      plants: readonly NewPlant[],
      options: CallOptions = {},
    ): Promise<Result<Created>> => createBatch(plants, options, false),

    /** Creates any number of plants in batches, and tells what became of each batch. Throws a {@link ClientError}. */
    createAll: (
      plants: Iterable<NewPlant> | AsyncIterable<NewPlant>,
      options: CallOptions = {},
    ): AsyncGenerator<BatchOutcome, void, void> =>
      // A batch that is sent twice is found stored, plant by plant.
      createInBatches((batch) => createBatch(batch, options, true), plants),

    /** Reads a plant, with its `etag`. */
    readPlant: (id: bigint, { signal }: CallOptions = {}): Promise<Result<NewPlant>> =>
      send(sender, {
        method: 'GET',
        path: `plants/${digitsOf(id)}`,
        signal,
        read: toNewPlant,
        repeatable: true,
      }),

    /** A page of plants, in ascending order of ids. */
    listPlants,

    /** Every plant, page by page; `limit` is that of a page. Throws a {@link ClientError}. */
    async *plants(
      query: ListQuery = {},
      options: CallOptions = {},
    ): AsyncGenerator<NewPlant, void, void> {
      let after = query.after
      do {
        const page = await listPlants(
          { limit: 1000, ...query, ...(after === undefined ? {} : { after }) },
          options,
        )
        if (!page.ok) throw new ClientError(page)
        yield* page.value.plants
        after = page.value.next ?? undefined
      } while (after !== undefined)
    },

    /** Replaces all fields of a plant: a tag that is not given is removed. */
    replacePlant: (
      plant: NewPlant,
      { signal, ifMatch }: ChangeOptions = {},
    ): Promise<Result<NewPlant>> =>
      send(sender, {
        method: 'PUT',
        path: `plants/${digitsOf(plant.id)}`,
        body: plantText(plant),
        ifMatch,
        signal,
        read: toNewPlant,
      }),

    /** Changes the fields that are given; a tag that is null is removed. */
    patchPlant: (
      id: bigint,
      { name, tag }: { readonly name?: string; readonly tag?: string | null },
      { signal, ifMatch }: ChangeOptions = {},
    ): Promise<Result<NewPlant>> =>
      send(sender, {
        method: 'PATCH',
        path: `plants/${digitsOf(id)}`,
        body: JSON.stringify({ name, tag }),
        ifMatch,
        signal,
        read: toNewPlant,
      }),

    /** Deletes a plant. */
    deletePlant: (id: bigint, { signal, ifMatch }: ChangeOptions = {}): Promise<Result<null>> =>
      send(sender, {
        method: 'DELETE',
        path: `plants/${digitsOf(id)}`,
        ifMatch,
        signal,
        read: (_, status) => (status === 204 ? null : undefined),
      }),
  } satisfies Record<Operation, unknown> & Record<string, unknown>
}

// With a slash at its end: what follows is resolved below it, not beside it.
function folderOf(url: string | URL): URL {
  const folder = new URL(url)
  folder.search = ''
  folder.hash = ''
  if (!folder.pathname.endsWith('/')) folder.pathname += '/'
  return folder
}

function searchOf(query: ListQuery): URLSearchParams {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value))
  }
  return search
}

const withoutId = ({ name, tag }: NewPlant): Plant => (tag === undefined ? { name } : { name, tag })

function toCreated(body: unknown): Created | undefined {
  const created = fieldsOf(body)?.created
  return typeof created === 'number' ? { created } : undefined
}
