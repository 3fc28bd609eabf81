// The routes of the collection of plants.

import { toJson } from '../../plant/json'
import { listProblems } from '../../plant/mismatch'
import {
  type Int64,
  Plant,
  PlantFields,
  type PlantUpdate,
  sentTexts,
  toNewPlant,
} from '../../plant/plant'
import { RequestError } from '../../request-errors'
import { addNextLink, answerJson } from '../answers/answer'
import { readQuery } from '../check'
import type { App } from '../exchange'
import type { RouteDeps } from '../route-deps'
import {
  CreateCounts,
  DEFAULT_LIMIT,
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

function plantsOf({ plants }: PlantBatch): Plant[] {
  requireDistinctIds(plants)
  return plants.map((plant) => toNewPlant(plant.id, plant))
}

function updatesOf({ plants }: PlantUpdates): PlantUpdate[] {
  requireDistinctIds(plants)
  return plants.map((plant) => {
    const update = { id: plant.id, ...sentTexts(plant) }
    return plant.was ? { ...update, was: sentTexts(plant.was) } : update
  })
}

type Left = { readonly conflicts: readonly Int64[]; readonly missing: readonly Int64[] }

/** The counts of a batch, and the plants that it left alone. */
function toText({ conflicts, missing, ...counts }: Left): string {
  const toIds = (ids: readonly Int64[]) => ids.map((id) => toJson({ id }))
  return JSON.stringify({ ...counts, conflicts: toIds(conflicts), missing: toIds(missing) })
}

export const plants = (deps: RouteDeps) => (app: App) =>
  app.use(creating(deps)).use(changingBatches(deps)).use(listing(deps))

const creating =
  ({ store, bodies, answers, optionsOf }: RouteDeps) =>
  (app: App) =>
    app
      .post(
        '/plants',
        async ({ request, exchange }) => {
          const body = await bodies.read(exchange, Plant)
          const plant = toNewPlant(body.id, body)
          const options = optionsOf(exchange)
          await answers.change(plant, () => store.createPlant(plant, options))
          // The answer omits the id.
          return answers.answer(request, JSON.stringify({ ...plant, id: undefined }))
        },
        {
          detail: {
            operationId: 'createPlant',
            summary: 'Create a plant',
            description: 'Answers once the plant is durable.',
            refusals: ['stored already', 'taken'],
            links: ['readPlant', 'replacePlant', 'patchPlant', 'deletePlant'],
            schemas: () => ({ body: Plant, 200: PlantFields }),
          },
        },
      )
      .post(
        '/plants/batch',
        async ({ exchange }) => {
          const body = await bodies.read(exchange, PlantBatch)
          const all = plantsOf(body)
          await store.createPlants(all, optionsOf(exchange))
          return answerJson({ created: all.length })
        },
        {
          detail: {
            operationId: 'createPlants',
            summary: 'Create up to 1000 plants, all or none',
            refusals: ['stored already', 'taken'],
            schemas: () => ({ body: PlantBatch, 200: CreateCounts }),
          },
        },
      )

const changingBatches =
  ({ store, bodies, answers, optionsOf }: RouteDeps) =>
  (app: App) =>
    app
      .put(
        '/plants/batch',
        async ({ exchange }) => {
          const body = await bodies.read(exchange, PlantBatch)
          const options = optionsOf(exchange)
          const counts = await store.putPlants(plantsOf(body), options)
          return answerJson(counts)
        },
        {
          detail: {
            operationId: 'putPlants',
            summary: 'Create or replace up to 1000 plants, all or none',
            schemas: () => ({ body: PlantBatch, 200: PutCounts }),
          },
        },
      )
      .patch(
        '/plants/batch',
        async ({ request, exchange }) => {
          const body = await bodies.read(exchange, PlantUpdates)
          const options = optionsOf(exchange)
          const report = await store.patchPlants(updatesOf(body), options)
          return answers.answer(request, toText(report))
        },
        {
          detail: {
            operationId: 'patchPlants',
            summary: 'Create or change up to 1000 plants',
            schemas: () => ({ body: PlantUpdates, 200: PatchCounts }),
          },
        },
      )
      .post(
        '/plants/batch-delete',
        async ({ request, exchange }) => {
          const body = await bodies.read(exchange, PlantBatch)
          const options = optionsOf(exchange)
          const report = await store.deletePlants(plantsOf(body), options)
          return answers.answer(request, toText(report))
        },
        {
          detail: {
            operationId: 'deletePlants',
            summary: 'Delete up to 1000 plants that are as they were sent',
            schemas: () => ({ body: PlantBatch, 200: DeleteCounts }),
          },
        },
      )

const listing =
  ({ store, answers }: RouteDeps) =>
  (app: App) =>
    app.get(
      '/plants',
      async ({ request }) => {
        const { limit, after, ...filter } = readQuery(request, PlantList)
        const page = await store.listPlants(
          {
            ...filterOf(filter),
            limit: Number(limit ?? DEFAULT_LIMIT),
            after: after === undefined ? undefined : BigInt(after),
          },
          request.signal,
        )
        const next = page.next === null ? null : String(page.next)
        const text = JSON.stringify({ plants: page.plants.map(toJson), next })
        const answer = answers.answerZipped(request, text)
        if (next !== null) addNextLink(answer, request, next)
        return answer
      },
      {
        detail: {
          operationId: 'listPlants',
          summary: 'List plants',
          headers: ['link'],
          schemas: () => ({ query: PlantList, 200: PlantPage }),
        },
      },
    )
