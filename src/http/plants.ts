// The routes of plants.

import { Elysia } from 'elysia'
import { PlantError } from '../errors'
import type { Metrics } from '../metrics'
import { type Int64, NewPlant, Plant, Replacement } from '../plant'
import { toJson } from '../plant-json'
import type { Store, PlantPage as StoredPage } from '../store'
import { answerJson, jsonHeaders } from './answer'
import type { Bodies } from './body'
import { answers, BODY, READING, refusals, responses, WRITING } from './describe'
import { Created, DEFAULT_LIMIT, PlantBatch, PlantList, PlantPage, PlantPath } from './schemas'

const OTHER_ID = 'id: expected the id of the path, or none'

const tags = ['plants']
const monstera = { name: 'Monstera deliciosa', tag: 'aroid' }
const stored = { id: 1, ...monstera }

const link = (operationId: string, description: string) => ({
  [operationId]: { operationId, description, parameters: { id: '$request.body#/id' } },
})
const toThePlant = {
  ...link('readPlant', 'Read the plant.'),
  ...link('replacePlant', 'Replace the plant.'),
  ...link('deletePlant', 'Delete the plant.'),
}
const toTheNextPage = {
  nextPage: {
    operationId: 'listPlants',
    description: 'List the next page.',
    parameters: { after: '$response.body#/next' },
  },
}

// Elysia keeps the last of repeated parameters, and a client would not learn which one counted.
function refuseRepeated({ request: { url } }: { readonly request: Request }): void {
  const start = url.indexOf('?')
  if (start < 0) return
  const sent = new URLSearchParams(url.slice(start))
  const repeated = Object.keys(PlantList.properties).filter((name) => sent.getAll(name).length > 1)
  if (repeated.length > 0) throw new PlantError(40002, `given twice: ${repeated.join(', ')}`)
}

const toInt64 = (text: string): Int64 => BigInt(text)

// Exactly the fields of the schema: unknown ones of the body are ignored.
const toNewPlant = (id: Int64, { name, tag }: Plant): NewPlant =>
  tag === undefined ? { id, name } : { id, name, tag }

// Relative to the page itself (RFC 8288, section 3.1): it holds behind a proxy that serves it under a prefix.
function nextPage(after: Int64, limit: number, tag: string | undefined): string {
  const query = new URLSearchParams({ limit: String(limit), after: String(after) })
  if (tag !== undefined) query.set('tag', tag)
  return `<?${query}>; rel="next"`
}

function answerPage({ plants, hasMore }: StoredPage, limit: number, tag: string | undefined) {
  const last = hasMore ? plants.at(-1) : undefined
  const answer = answerJson({ plants: plants.map(toJson), next: last ? String(last.id) : null })
  if (last) answer.headers.set('link', nextPage(last.id, limit, tag))
  return answer
}

export type PlantDeps = {
  readonly store: Store
  readonly metrics: Metrics
  readonly bodies: Bodies
}

export function plants({ store, metrics, bodies }: PlantDeps) {
  return new Elysia({ name: 'plants' })
    .post(
      '/plants',
      async ({ body, request }) => {
        const plant = toNewPlant(body.id, body)
        await store.createPlant(plant, request.signal)
        metrics.created(1)
        return answerJson({ name: plant.name, tag: plant.tag })
      },
      {
        ...bodies.of(NewPlant),
        detail: {
          operationId: 'createPlant',
          summary: 'Create a plant',
          description: 'Answers once the plant is durable. An id names one plant.',
          tags,
          responses: responses(() => ({
            ...answers(200, 'The plant is durable.', Plant, {
              example: monstera,
              links: toThePlant,
            }),
            ...refusals(...BODY, ...WRITING, 40901, 40902),
          })),
        },
      },
    )
    .post(
      '/plants/batch',
      async ({ body, request }) => {
        const all = body.plants.map((plant) => toNewPlant(plant.id, plant))
        await store.createPlants(all, request.signal)
        metrics.created(all.length)
        return answerJson({ created: all.length })
      },
      {
        ...bodies.of(PlantBatch),
        detail: {
          operationId: 'createPlants',
          summary: 'Create up to 1000 plants, all or none',
          description:
            'Answers once all plants are durable. Where one is refused, none is created.',
          tags,
          responses: responses(() => ({
            ...answers(200, 'All plants are durable.', Created, { example: { created: 1 } }),
            ...refusals(...BODY, ...WRITING, 40901, 40902),
          })),
        },
      },
    )
    .get(
      '/plants',
      async ({ query }) => {
        const limit = Number(query.limit ?? DEFAULT_LIMIT)
        const after = query.after === undefined ? null : toInt64(query.after)
        const page = await store.listPlants({ limit, after, tag: query.tag ?? null })
        return answerPage(page, limit, query.tag)
      },
      {
        query: PlantList,
        transform: refuseRepeated,
        detail: {
          operationId: 'listPlants',
          summary: 'List plants',
          description: 'Page by page, in ascending order of their ids.',
          tags,
          responses: responses(() => ({
            ...answers(200, 'A page of plants.', PlantPage, {
              example: { plants: [stored], next: '1' },
              headers: { link: '<?limit=1&after=1>; rel="next"' },
              links: toTheNextPage,
            }),
            ...refusals(40002, ...READING),
          })),
        },
      },
    )
    .get(
      '/plants/:id',
      async ({ params }) => {
        const plant = await store.readPlant(toInt64(params.id))
        if (!plant) throw new PlantError(40402)
        return answerJson(toJson(plant))
      },
      {
        params: PlantPath,
        detail: {
          operationId: 'readPlant',
          summary: 'Read a plant',
          description: 'Sees every change that was answered before.',
          tags,
          responses: responses(() => ({
            ...answers(200, 'The plant.', NewPlant, { example: stored }),
            ...refusals(40002, 40402, ...READING),
          })),
        },
      },
    )
    .put(
      '/plants/:id',
      async ({ params, body, request }) => {
        const id = toInt64(params.id)
        if (body.id !== undefined && body.id !== id) throw new PlantError(40002, OTHER_ID)
        const plant = toNewPlant(id, body)
        await store.replacePlant(plant, { signal: request.signal })
        return answerJson(toJson(plant))
      },
      {
        ...bodies.of(Replacement),
        params: PlantPath,
        detail: {
          operationId: 'replacePlant',
          summary: 'Replace a plant',
          description: 'Replaces all its fields: a tag that is not sent is removed. Creates none.',
          tags,
          responses: responses(() => ({
            ...answers(200, 'The plant as it is stored now.', NewPlant, { example: stored }),
            ...refusals(...BODY, 40402, ...WRITING),
          })),
        },
      },
    )
    .delete(
      '/plants/:id',
      async ({ params, request }) => {
        await store.deletePlant(toInt64(params.id), { signal: request.signal })
        return new Response(null, { status: 204, headers: jsonHeaders })
      },
      {
        params: PlantPath,
        detail: {
          operationId: 'deletePlant',
          summary: 'Delete a plant',
          description: 'Answers once the deletion is durable. The id may be used again.',
          tags,
          responses: responses(() => ({
            ...answers(204, 'The plant is gone.', null),
            ...refusals(40002, 40402, ...WRITING),
          })),
        },
      },
    )
}
