import { Kind, TypeRegistry } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'
import { PlantError } from '../errors'
import type { Metrics } from '../metrics'
import { type Int64, NewPlant, type Plant, parseInt64, Replacement, Text } from '../plant'
import { toJson } from '../plant-json'
import type { Store } from '../store'
import { answerJson, jsonHeaders } from './answer'
import type { Bodies } from './body'

const DEFAULT_LIMIT = 100
const MAX_BATCH = 1000
const OTHER_ID = 'id: expected the id of the path, or none'

TypeRegistry.Set('Int64Text', (_, text) => typeof text === 'string' && parseInt64(text) !== null)
const Int64Text = t.Unsafe<string>({
  [Kind]: 'Int64Text',
  type: 'integer',
  format: 'int64',
  error: 'expected the digits of an integer from -9223372036854775808 to 9223372036854775807',
})

TypeRegistry.Set(
  'LimitText',
  (_, text) => typeof text === 'string' && /^([1-9]\d{0,2}|1000)$/.test(text),
)
const LimitText = t.Unsafe<string>({
  [Kind]: 'LimitText',
  type: 'integer',
  minimum: 1,
  maximum: 1000,
  description: `${DEFAULT_LIMIT} if not given`,
  error: 'expected an integer from 1 to 1000',
})

const PlantPath = t.Object({ id: Int64Text }, { error: 'expected an id' })

const PlantList = t.Object(
  { limit: t.Optional(LimitText), after: t.Optional(Int64Text), tag: t.Optional(Text) },
  { additionalProperties: false, error: 'the parameters are limit, after and tag' },
)

/** The body of a batch. */
export const PlantBatch = t.Object(
  {
    plants: t.Array(NewPlant, {
      minItems: 1,
      maxItems: MAX_BATCH,
      error: `expected an array of 1 to ${MAX_BATCH} plants`,
    }),
  },
  { additionalProperties: true, error: 'expected an object with plants' },
)

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

function nextPage(last: Int64, limit: number, tag: string | undefined): string {
  const query = new URLSearchParams({ limit: String(limit), after: String(last) })
  if (tag !== undefined) query.set('tag', tag)
  return `/plants?${query}`
}

export type PlantDeps = {
  readonly store: Store
  readonly metrics: Metrics
  readonly bodies: Bodies
}

/** The routes of plants. */
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
        detail: { operationId: 'createPlant', summary: 'Creates a plant' },
      },
    )
    .post(
      '/plants/batch',
      async ({ body, request }) => {
        const all = body.plants.map((plant) => toNewPlant(plant.id, plant))
        await store.createPlants(all, request.signal)
        metrics.created(body.plants.length)
        return answerJson({ created: body.plants.length })
      },
      {
        ...bodies.of(PlantBatch),
        detail: { operationId: 'createPlants', summary: 'Creates up to 1000 plants, all or none' },
      },
    )
    .get(
      '/plants',
      async ({ query }) => {
        const limit = Number(query.limit ?? DEFAULT_LIMIT)
        const after = query.after === undefined ? null : toInt64(query.after)
        const page = await store.listPlants({ limit, after, tag: query.tag ?? null })
        const last = page.hasMore ? page.plants.at(-1) : undefined
        const next = last ? String(last.id) : null
        const answer = answerJson({ plants: page.plants.map(toJson), next })
        if (last) {
          answer.headers.set('link', `<${nextPage(last.id, limit, query.tag)}>; rel="next"`)
        }
        return answer
      },
      {
        query: PlantList,
        transform: refuseRepeated,
        detail: { operationId: 'listPlants', summary: 'Lists plants in ascending order of ids' },
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
        detail: { operationId: 'readPlant', summary: 'Reads a plant' },
      },
    )
    .put(
      '/plants/:id',
      async ({ params, body, request }) => {
        const id = toInt64(params.id)
        if (body.id !== undefined && body.id !== id) throw new PlantError(40002, OTHER_ID)
        const plant = toNewPlant(id, body)
        await store.replacePlant(plant, request.signal)
        return answerJson(toJson(plant))
      },
      {
        ...bodies.of(Replacement),
        params: PlantPath,
        detail: { operationId: 'replacePlant', summary: 'Replaces a plant' },
      },
    )
    .delete(
      '/plants/:id',
      async ({ params, request }) => {
        await store.deletePlant(toInt64(params.id), request.signal)
        return new Response(null, { status: 204, headers: jsonHeaders })
      },
      {
        params: PlantPath,
        detail: { operationId: 'deletePlant', summary: 'Deletes a plant' },
      },
    )
}
