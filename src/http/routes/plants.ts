// The routes of the collection of plants.

import { RequestError } from '../../errors'
import type { Metrics } from '../../metrics'
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
import type { Store } from '../../store'
import { addNextLink, answerJson } from '../answers/answer'
import type { AnswerBudget } from '../answers/answer-budget'
import type { Bodies } from '../bodies/body'
import { queryOf } from '../elysia'
import type { App, OptionsOf } from '../request-context'
import { answers } from './describe'
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
import { tags } from './tags'

const MONSTERA = { name: 'Monstera deliciosa', tag: 'aroid' }
export const STORED_EXAMPLE = { id: 1, ...MONSTERA }

const link = (operationId: string, description: string) => ({
  [operationId]: { operationId, description, parameters: { id: '$request.body#/id' } },
})
const PLANT_LINKS = {
  ...link('readPlant', 'Read the plant.'),
  ...link('replacePlant', 'Replace the plant.'),
  ...link('patchPlant', 'Change some fields of the plant.'),
  ...link('deletePlant', 'Delete the plant.'),
}
const NEXT_PAGE_LINK = {
  nextPage: {
    operationId: 'listPlants',
    description: 'List the next page; with the other parameters as they were.',
    parameters: { after: '$response.body#/next' },
  },
}

function filterOf({ name: names, ...filter }: Omit<PlantList, 'limit' | 'after'>) {
  if (filter.tag !== undefined && filter.tagged !== undefined)
    throw new RequestError('invalid', 'send tag or tagged, not both')
  return { ...filter, names }
}

// A create would be refused with a 409, as if an earlier attempt had been stored; a put would count the plant twice.
function requireDistinctIds(plants: readonly { readonly id: Int64 }[]): void {
  if (new Set(plants.map(({ id }) => id)).size === plants.length) return
  const first = new Map<Int64, number>()
  const repeats: string[] = []
  for (const [index, { id }] of plants.entries()) {
    const firstIndex = first.get(id)
    if (firstIndex === undefined) first.set(id, index)
    else
      repeats.push(`plants[${index}].id (id ${id}): expected another id than plants[${firstIndex}]`)
  }
  throw new RequestError('invalid', listProblems(repeats))
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

const toIds = (ids: readonly Int64[]) => ids.map((id) => toJson({ id }))

export type PlantDeps = {
  readonly store: Store
  readonly metrics: Metrics
  readonly bodies: Bodies
  readonly answerBudget: AnswerBudget
  readonly optionsOf: OptionsOf
}

export const plants = (deps: PlantDeps) => (app: App) =>
  app
    .use(creating(deps))
    .use(putting(deps))
    .use(patching(deps))
    .use(deleting(deps))
    .use(listing(deps))
    .use(tags(deps))

const creating = (deps: PlantDeps) => (app: App) =>
  app
    .post(
      '/plants',
      async ({ body, request, token, entry }) => {
        const plant = toNewPlant(body.id, body)
        const options = deps.optionsOf({ request, token, entry })
        await deps.answerBudget.change(plant, () => deps.store.createPlant(plant, options))
        deps.metrics.countCreated(1)
        // The answer omits the id.
        return deps.answerBudget.answer(request, JSON.stringify({ ...plant, id: undefined }))
      },
      {
        ...deps.bodies.json(Plant),
        detail: {
          operationId: 'createPlant',
          summary: 'Create a plant',
          description: 'Answers once the plant is durable. An id identifies one plant.',
          refusals: ['stored already', 'taken'],
          answers: () =>
            answers(200, 'The plant is durable.', PlantFields, {
              example: MONSTERA,
              links: PLANT_LINKS,
            }),
        },
      },
    )
    .post(
      '/plants/batch',
      async ({ body, request, token, entry }) => {
        const all = plantsOf(body)
        await deps.store.createPlants(all, deps.optionsOf({ request, token, entry }))
        deps.metrics.countCreated(all.length)
        return answerJson({ created: all.length })
      },
      {
        ...deps.bodies.json(PlantBatch),
        detail: {
          operationId: 'createPlants',
          summary: 'Create up to 1000 plants, all or none',
          description: 'Answers once all plants are durable. If one is refused, none is created.',
          refusals: ['stored already', 'taken'],
          answers: () =>
            answers(200, 'All plants are durable.', CreateCounts, { example: { created: 1 } }),
        },
      },
    )

const putting = (deps: PlantDeps) => (app: App) =>
  app.put(
    '/plants/batch',
    async ({ body, request, token, entry }) => {
      const counts = await deps.store.putPlants(
        plantsOf(body),
        deps.optionsOf({ request, token, entry }),
      )
      deps.metrics.countCreated(counts.created)
      return answerJson(counts)
    },
    {
      ...deps.bodies.json(PlantBatch),
      detail: {
        operationId: 'putPlants',
        summary: 'Create or replace up to 1000 plants, all or none',
        description:
          'Creates the plants that are new, replaces all fields of those that differ, and leaves the rest as they are: these have no entry in the change log. Answers once all are durable.',
        answers: () =>
          answers(200, 'All plants are durable.', PutCounts, {
            example: { created: 1, replaced: 0, unchanged: 0 },
          }),
      },
    },
  )

const patching = (deps: PlantDeps) => (app: App) =>
  app.patch(
    '/plants/batch',
    async ({ body, request, token, entry }) => {
      const options = deps.optionsOf({ request, token, entry })
      const report = await deps.store.patchPlants(updatesOf(body), options)
      const { conflicts, missing, ...counts } = report
      deps.metrics.countCreated(counts.created)
      const text = JSON.stringify({
        ...counts,
        conflicts: toIds(conflicts),
        missing: toIds(missing),
      })
      return deps.answerBudget.answer(request, text)
    },
    {
      ...deps.bodies.json(PlantUpdates),
      detail: {
        operationId: 'patchPlants',
        summary: 'Create or change up to 1000 plants',
        description:
          'Changes the fields that are sent, in one commit; null removes one. A plant that is not stored is created if it has a name and no `was`. One whose stored fields differ from those in `was` is left as it is, and listed in `conflicts`. Plants that stay as they are have no entry in the change log.',
        answers: () =>
          answers(200, 'All changes are durable.', PatchCounts, {
            example: { created: 0, patched: 1, unchanged: 0, conflicts: [], missing: [] },
          }),
      },
    },
  )

const deleting = (deps: PlantDeps) => (app: App) =>
  app.post(
    '/plants/batch-delete',
    async ({ body, request, token, entry }) => {
      const options = deps.optionsOf({ request, token, entry })
      const { deleted, conflicts, missing } = await deps.store.deletePlants(plantsOf(body), options)
      const text = JSON.stringify({ deleted, conflicts: toIds(conflicts), missing: toIds(missing) })
      return deps.answerBudget.answer(request, text)
    },
    {
      ...deps.bodies.json(PlantBatch),
      detail: {
        operationId: 'deletePlants',
        summary: 'Delete up to 1000 plants that are as they were sent',
        description:
          'Deletes the plants that are stored with exactly these fields, in one commit, and leaves those that differ as they are, listed in `conflicts`: no change by another client is lost. Answers once the deletions are durable.',
        answers: () =>
          answers(200, 'The plants that matched are gone.', DeleteCounts, {
            example: { deleted: 1, conflicts: [], missing: [] },
          }),
      },
    },
  )

const listing = (deps: PlantDeps) => (app: App) =>
  app.get(
    '/plants',
    async ({ request, query: { limit, after, ...filter } }) => {
      const page = await deps.store.listPlants(
        {
          ...filterOf(filter),
          limit: Number(limit),
          after: after === undefined ? undefined : BigInt(after),
        },
        request.signal,
      )
      const next = page.next === null ? null : String(page.next)
      const text = JSON.stringify({ plants: page.plants.map(toJson), next })
      const answer = deps.answerBudget.answerZipped(request, text)
      if (next !== null) addNextLink(answer, { limit: String(limit), after: next, ...filter })
      return answer
    },
    {
      ...queryOf(PlantList),
      detail: {
        operationId: 'listPlants',
        summary: 'List plants',
        description:
          'Page by page, in ascending or descending order of ids. A search by `name` walks a few thousand plants a page: go on while there is a `next`.',
        refusals: ['busy'],
        answers: () =>
          answers(200, 'A page of plants.', PlantPage, {
            example: { plants: [STORED_EXAMPLE], next: '1' },
            headers: { link: '<?limit=1&after=1>; rel="next"' },
            links: NEXT_PAGE_LINK,
          }),
      },
    },
  )
