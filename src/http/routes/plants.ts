// The routes of the collection of plants.

import { toJson } from '../../plant/json'
import { listProblems } from '../../plant/mismatch'
import { type Int64, Plant, PlantFields, type PlantUpdate } from '../../plant/plant'
import type { CreateOptions } from '../../plant/plants'
import { RequestError } from '../../request-errors'
import { queryOf } from '../elysia'
import type { App, Exchange } from '../exchange'
import type { RouteDeps } from '../route-deps'
import {
  CreateCounts,
  DeleteCounts,
  PatchCounts,
  PlantBatch,
  PlantList,
  PlantPage,
  PlantUpdates,
  PutCounts,
} from './schemas'

function filterOf({ name: names, tagged, ...filter }: Omit<PlantList, 'limit' | 'after'>) {
  if (tagged === undefined) return { ...filter, names }
  if (filter.tag !== undefined) throw new RequestError('invalid', 'send tag or tagged, not both')
  return { ...filter, names, tagged: tagged === 'true' }
}

// A create would be refused with a 409, as if an earlier attempt had been stored; a put would count the plant twice.
function requireDistinctIds(plants: readonly { readonly id: Int64 }[]): void {
  const first = new Map<Int64, number>()
  const repeats: string[] = []
  for (const [index, { id }] of plants.entries()) {
    const firstIndex = first.getOrInsert(id, index)
    if (firstIndex !== index)
      repeats.push(`plants[${index}].id (id ${id}): expected another id than plants[${firstIndex}]`)
  }
  if (repeats.length > 0) throw new RequestError('invalid', listProblems(repeats))
}

type Batch<Item> = {
  readonly body: { readonly plants: readonly Item[] }
  readonly request: Request
  readonly exchange: Exchange
}

/** Returns the handler of a batch, which is answered with its counts, and the plants that it left alone. */
const changeAll =
  <Item extends { readonly id: Int64 }>(
    { respond, optionsOf }: RouteDeps,
    change: (plants: readonly Item[], options: CreateOptions) => Promise<object>,
  ) =>
  async ({ body: { plants }, request, exchange }: Batch<Item>): Promise<Response> => {
    requireDistinctIds(plants)
    const report = await change(plants, optionsOf(exchange))
    const text = JSON.stringify(report, (_, value) =>
      typeof value === 'bigint' ? toJson({ id: value }) : value,
    )
    return respond(request, text)
  }

/** The routes that create plants, or replace them. */
export const newPlants = (deps: RouteDeps) => {
  const { store, bodies, respond, optionsOf } = deps
  return (app: App) =>
    app
      .post(
        '/plants',
        async ({ body, request, exchange }) => {
          await store.createPlant(body, optionsOf(exchange))
          // The response omits the id.
          return respond(request, JSON.stringify({ ...body, id: undefined }))
        },
        {
          ...bodies.json(Plant),
          detail: {
            operationId: 'createPlant',
            summary: 'Create a plant',
            description: 'Answers once the plant is durable. An id identifies one plant.',
            refusals: ['stored already', 'taken'],
            links: ['readPlant', 'replacePlant', 'patchPlant', 'deletePlant'],
            successes: () => ({ 200: PlantFields }),
          },
        },
      )
      .post(
        '/plants/batch',
        changeAll<Plant>(deps, async (plants, options) => {
          await store.createPlants(plants, options)
          return { created: plants.length }
        }),
        {
          ...bodies.json(PlantBatch),
          detail: {
            operationId: 'createPlants',
            summary: 'Create up to 1000 plants, all or none',
            description: 'Answers once all plants are durable.',
            refusals: ['stored already', 'taken'],
            successes: () => ({ 200: CreateCounts }),
          },
        },
      )
      .put('/plants/batch', changeAll<Plant>(deps, store.putPlants), {
        ...bodies.json(PlantBatch),
        detail: {
          operationId: 'putPlants',
          summary: 'Create or replace up to 1000 plants, all or none',
          description:
            'Creates the plants that are new, replaces all fields of those that differ, and leaves the rest as they are: these have no entry in the change log.',
          successes: () => ({ 200: PutCounts }),
        },
      })
}

/** The routes that change, delete and list plants. */
export const storedPlants = (deps: RouteDeps) => {
  const { store, bodies, respondZipped } = deps
  return (app: App) =>
    app
      .patch('/plants/batch', changeAll<PlantUpdate>(deps, store.patchPlants), {
        ...bodies.json(PlantUpdates),
        detail: {
          operationId: 'patchPlants',
          summary: 'Create or change up to 1000 plants',
          description:
            'Changes the fields that are sent, in one commit; null removes one. A plant that is not stored is created if it has a name and no `was`. One whose stored fields differ from those in `was` is left as it is, and listed in `conflicts`. Plants that stay as they are have no entry in the change log.',
          successes: () => ({ 200: PatchCounts }),
        },
      })
      .post('/plants/batch-delete', changeAll<Plant>(deps, store.deletePlants), {
        ...bodies.json(PlantBatch),
        detail: {
          operationId: 'deletePlants',
          summary: 'Delete up to 1000 plants that are as they were sent',
          description:
            'Deletes the plants that are stored with exactly these fields, in one commit, and leaves those that differ as they are, listed in `conflicts`: no change by another client is lost.',
          successes: () => ({ 200: DeleteCounts }),
        },
      })
      .get(
        '/plants',
        async ({ request, query: { limit, after, ...filter } }) => {
          const page = await store.listPlants(
            {
              ...filterOf(filter),
              limit: Number(limit),
              after: after === undefined ? undefined : BigInt(after),
            },
            request.signal,
          )
          const next = page.next === null ? null : String(page.next)
          const text = JSON.stringify({ plants: page.plants.map(toJson), next })
          return respondZipped(request, text, next)
        },
        {
          ...queryOf(PlantList),
          detail: {
            operationId: 'listPlants',
            summary: 'List plants',
            description: 'A search by `name` reads a few thousand plants per page.',
            headers: ['link'],
            successes: () => ({ 200: PlantPage }),
          },
        },
      )
}
