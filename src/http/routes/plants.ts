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
import { queryOf } from '../elysia'
import type { App } from '../exchange'
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
        async ({ body, request, exchange }) => {
          const plant = toNewPlant(body.id, body)
          await store.createPlant(plant, optionsOf(exchange))
          // The answer omits the id.
          return answers.answer(request, JSON.stringify({ ...plant, id: undefined }))
        },
        {
          ...bodies.json(Plant),
          detail: {
            operationId: 'createPlant',
            summary: 'Create a plant',
            description: 'Answers once the plant is durable. An id identifies one plant.',
            refusals: ['stored already', 'taken'],
            links: ['readPlant', 'replacePlant', 'patchPlant', 'deletePlant'],
            answers: () => ({ 200: PlantFields }),
          },
        },
      )
      .post(
        '/plants/batch',
        async ({ body, exchange }) => {
          const all = plantsOf(body)
          await store.createPlants(all, optionsOf(exchange))
          return answerJson({ created: all.length })
        },
        {
          ...bodies.json(PlantBatch),
          detail: {
            operationId: 'createPlants',
            summary: 'Create up to 1000 plants, all or none',
            description: 'Answers once all plants are durable.',
            refusals: ['stored already', 'taken'],
            answers: () => ({ 200: CreateCounts }),
          },
        },
      )

const changingBatches =
  ({ store, bodies, answers, optionsOf }: RouteDeps) =>
  (app: App) =>
    app
      .put(
        '/plants/batch',
        async ({ body, exchange }) => {
          const options = optionsOf(exchange)
          const counts = await store.putPlants(plantsOf(body), options)
          return answerJson(counts)
        },
        {
          ...bodies.json(PlantBatch),
          detail: {
            operationId: 'putPlants',
            summary: 'Create or replace up to 1000 plants, all or none',
            description:
              'Creates the plants that are new, replaces all fields of those that differ, and leaves the rest as they are: these have no entry in the change log.',
            answers: () => ({ 200: PutCounts }),
          },
        },
      )
      .patch(
        '/plants/batch',
        async ({ body, request, exchange }) => {
          const options = optionsOf(exchange)
          const report = await store.patchPlants(updatesOf(body), options)
          return answers.answer(request, toText(report))
        },
        {
          ...bodies.json(PlantUpdates),
          detail: {
            operationId: 'patchPlants',
            summary: 'Create or change up to 1000 plants',
            description:
              'Changes the fields that are sent, in one commit; null removes one. A plant that is not stored is created if it has a name and no `was`. One whose stored fields differ from those in `was` is left as it is, and listed in `conflicts`. Plants that stay as they are have no entry in the change log.',
            answers: () => ({ 200: PatchCounts }),
          },
        },
      )
      .post(
        '/plants/batch-delete',
        async ({ body, request, exchange }) => {
          const options = optionsOf(exchange)
          const report = await store.deletePlants(plantsOf(body), options)
          return answers.answer(request, toText(report))
        },
        {
          ...bodies.json(PlantBatch),
          detail: {
            operationId: 'deletePlants',
            summary: 'Delete up to 1000 plants that are as they were sent',
            description:
              'Deletes the plants that are stored with exactly these fields, in one commit, and leaves those that differ as they are, listed in `conflicts`: no change by another client is lost.',
            answers: () => ({ 200: DeleteCounts }),
          },
        },
      )

const listing =
  ({ store, answers }: RouteDeps) =>
  (app: App) =>
    app.get(
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
        const answer = answers.answerZipped(request, text)
        if (next !== null) addNextLink(answer, request, next)
        return answer
      },
      {
        ...queryOf(PlantList),
        detail: {
          operationId: 'listPlants',
          summary: 'List plants',
          description: 'A search by `name` walks a few thousand plants a page.',
          headers: ['link'],
          answers: () => ({ 200: PlantPage }),
        },
      },
    )
