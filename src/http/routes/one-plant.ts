// The routes of one plant.

import { RequestError } from '../../errors'
import { entityTagOf, isAmong, type Precondition } from '../../plant/entity-tag'
import { toJson } from '../../plant/json'
import {
  type Int64,
  Plant,
  PlantPatch,
  Replacement,
  sentTexts,
  toNewPlant,
} from '../../plant/plant'
import type { ChangeOptions } from '../../plant/plants'
import { JSON_HEADERS, notModified } from '../answers/answer'
import { MERGE_PATCH } from '../bodies/body'
import { readPrecondition } from '../conditions/precondition'
import type { SentHeaders } from '../elysia'
import type { App, RequestContext } from '../request-context'
import { answers, STORED_PLANT } from './describe'
import { type PlantDeps, STORED_EXAMPLE } from './plants'
import { PlantPath } from './schemas'

const EXAMPLE_ETAG = entityTagOf({ ...STORED_EXAMPLE, id: 1n })
const TAGGED_EXAMPLE = { example: STORED_EXAMPLE, headers: { etag: EXAMPLE_ETAG } }

function requireSameId(bodyId: Int64 | undefined, id: Int64): void {
  if (bodyId !== undefined && bodyId !== id)
    throw new RequestError('invalid', 'id: must match the id in the path, or be left out')
}

/** True if a request wants that there is no such plant yet. */
const isForNew = ({ ifMatch, ifNoneMatch }: Precondition = {}): boolean =>
  ifMatch === undefined && ifNoneMatch === '*'

const MISSING = 'no plant has this id; send If-None-Match: * to create it'

// The client required absence: 412, not 409.
function refuseTaken(error: unknown): never {
  const isTaken = error instanceof RequestError && ['stored already', 'taken'].includes(error.error)
  throw isTaken ? new RequestError('precondition failed') : error
}

function refuseMissing(error: unknown): never {
  const isMissing = error instanceof RequestError && error.error === 'no such plant'
  throw isMissing ? new RequestError('no such plant', MISSING) : error
}

function conditionally(
  { optionsOf }: PlantDeps,
  headers: SentHeaders,
  context: RequestContext,
): ChangeOptions {
  const precondition = readPrecondition(headers)
  return { ...optionsOf(context), ...(precondition && { precondition }) }
}

// Each answer copies them: cheaper than headers that JavaScript sees, one object for each answer.
const TAGGED_HEADERS = new Headers(JSON_HEADERS)

function answerPlant(
  { answerBudget }: PlantDeps,
  request: Request,
  plant: Plant,
  { json = JSON.stringify(toJson(plant)), tag = entityTagOf(plant, json), status = 200 } = {},
): Response {
  TAGGED_HEADERS.set('etag', tag)
  return answerBudget.answer(request, json, TAGGED_HEADERS, status)
}

export const onePlant = (deps: PlantDeps) => (app: App) =>
  app.use(reading(deps)).use(replacing(deps)).use(patching(deps)).use(deleting(deps))

const reading = (deps: PlantDeps) => (app: App) =>
  app.get(
    '/plants/:id',
    async ({ params, headers, request }) => {
      const { ifMatch, ifNoneMatch }: Precondition = readPrecondition(headers) ?? {}
      const plant = await deps.store.readPlant(BigInt(params.id))
      if (!plant) throw new RequestError('no such plant')
      const json = JSON.stringify(toJson(plant))
      const tag = entityTagOf(plant, json)
      // RFC 9110, section 13.2.2: If-Match is checked first.
      if (ifMatch && !isAmong(ifMatch, tag)) throw new RequestError('precondition failed')
      if (ifNoneMatch && isAmong(ifNoneMatch, tag)) return notModified(tag)
      return answerPlant(deps, request, plant, { json, tag })
    },
    {
      params: PlantPath,
      detail: {
        operationId: 'readPlant',
        summary: 'Read a plant',
        description: 'Sees every change that was acknowledged before.',
        ...STORED_PLANT,
        answers: () => ({
          ...answers(200, 'The plant.', Plant, TAGGED_EXAMPLE),
          ...answers(304, 'If-None-Match names the entity tag of the plant.', null, TAGGED_EXAMPLE),
        }),
      },
    },
  )

async function createNew(
  deps: PlantDeps,
  request: Request,
  plant: Plant,
  options: ChangeOptions,
): Promise<Response> {
  const create = () => deps.store.createPlant(plant, options)
  await deps.answerBudget.change(plant, create).catch(refuseTaken)
  deps.metrics.countCreated(1)
  return answerPlant(deps, request, plant, { status: 201 })
}

const replacing = (deps: PlantDeps) => (app: App) =>
  app.put(
    '/plants/:id',
    async ({ params, headers, body, request, token, entry }) => {
      const id = BigInt(params.id)
      requireSameId(body.id, id)
      const plant = toNewPlant(id, body)
      const options = conditionally(deps, headers, { request, token, entry })
      if (isForNew(options.precondition)) return createNew(deps, request, plant, options)
      const replace = () => deps.store.replacePlant(plant, options)
      await deps.answerBudget.change(plant, replace).catch(refuseMissing)
      return answerPlant(deps, request, plant)
    },
    {
      ...deps.bodies.json(Replacement),
      params: PlantPath,
      detail: {
        operationId: 'replacePlant',
        summary: 'Replace a plant',
        description:
          'Replaces all its fields: an optional text that is not sent is removed. With `If-None-Match: *` alone, creates the plant, or is 412 if there is one.',
        ...STORED_PLANT,
        answers: () => ({
          ...answers(200, 'The plant as it is stored now.', Plant, TAGGED_EXAMPLE),
          ...answers(201, 'The plant was created, with `If-None-Match: *`.', Plant, TAGGED_EXAMPLE),
        }),
      },
    },
  )

const patching = (deps: PlantDeps) => (app: App) =>
  app.patch(
    '/plants/:id',
    async ({ params, headers, body, request, token, entry }) => {
      const id = BigInt(params.id)
      requireSameId(body.id, id)
      const options = conditionally(deps, headers, { request, token, entry })
      const plant = await deps.answerBudget.changeStored(
        () => deps.store.readPlant(id),
        () => deps.store.patchPlant(id, sentTexts(body), options),
      )
      return answerPlant(deps, request, plant)
    },
    {
      ...deps.bodies.json(PlantPatch, MERGE_PATCH),
      params: PlantPath,
      detail: {
        operationId: 'patchPlant',
        summary: 'Change some fields of a plant',
        description:
          'With a JSON Merge Patch (RFC 7396): a field that is not sent stays; null removes an optional text.',
        ...STORED_PLANT,
        media: MERGE_PATCH,
        answers: () => answers(200, 'The plant as it is stored now.', Plant, TAGGED_EXAMPLE),
      },
    },
  )

const deleting = (deps: PlantDeps) => (app: App) =>
  app.delete(
    '/plants/:id',
    async ({ params, headers, request, token, entry }) => {
      const options = conditionally(deps, headers, { request, token, entry })
      await deps.store.deletePlant(BigInt(params.id), options)
      return new Response(null, { status: 204, headers: JSON_HEADERS })
    },
    {
      ...deps.bodies.none,
      params: PlantPath,
      detail: {
        operationId: 'deletePlant',
        summary: 'Delete a plant',
        description: 'Answers once the deletion is durable. The id may be used again.',
        ...STORED_PLANT,
        answers: () => answers(204, 'The plant is gone.', null),
      },
    },
  )
