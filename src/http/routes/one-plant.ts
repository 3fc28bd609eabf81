// The routes of one plant.

import { isAmong, type Precondition, represent } from '../../plant/entity-tag'
import { charactersOf, type Int64, Plant, PlantPatch, Replacement } from '../../plant/plant'
import { RequestError } from '../../request-errors'
import { readPrecondition } from '../conditions/precondition'
import type { App, Exchange } from '../exchange'
import { JSON_HEADERS, notModified } from '../responses/forms'
import type { RouteDeps } from '../route-deps'
import { STORED_PLANT } from './describe'
import { PlantPath } from './schemas'

/** The id in a path, which that of the body must match. */
function idOf(path: typeof PlantPath.static, body: { readonly id?: Int64 }): Int64 {
  const id = BigInt(path.id)
  if (body.id === undefined || body.id === id) return id
  throw new RequestError('invalid', 'id: must match the id in the path, or be left out')
}

const MISSING = 'no plant has this id; send If-None-Match: * to create it'

/** The error of a PUT. Its client required that the plant exists, or that it does not: 412, not 409. */
function putError(error: unknown): unknown {
  const name = error instanceof RequestError ? error.error : null
  if (name === 'no such plant') return new RequestError(name, MISSING)
  const isTaken = name === 'stored already' || name === 'taken'
  return isTaken ? new RequestError('precondition failed') : error
}

// Each response copies them: cheaper than headers that JavaScript sees, one object for each response.
const TAGGED_HEADERS = new Headers(JSON_HEADERS)

function plantResponse(
  { respond }: RouteDeps,
  request: Request,
  { json, etag }: ReturnType<typeof represent>,
  status?: number,
): Response {
  TAGGED_HEADERS.set('etag', etag)
  return respond(request, json, TAGGED_HEADERS, status)
}

const conditionally = ({ optionsOf }: RouteDeps, exchange: Exchange) => ({
  ...optionsOf(exchange),
  precondition: readPrecondition(exchange.headers),
})

/** The routes that read and replace a plant. */
export const onePlant = (deps: RouteDeps) => (app: App) =>
  app
    .get(
      '/plants/:id',
      async ({ params, headers, request }) => {
        const { ifMatch, ifNoneMatch }: Precondition = readPrecondition(headers) ?? {}
        const plant = await deps.store.readPlant(BigInt(params.id))
        if (!plant) throw new RequestError('no such plant')
        const representation = represent(plant)
        const { etag } = representation
        // RFC 9110, section 13.2.2: If-Match is checked first.
        if (ifMatch && !isAmong(ifMatch, etag)) throw new RequestError('precondition failed')
        if (ifNoneMatch && isAmong(ifNoneMatch, etag)) return notModified(etag)
        return plantResponse(deps, request, representation)
      },
      {
        params: PlantPath,
        detail: {
          operationId: 'readPlant',
          summary: 'Read a plant',
          description: 'Sees every change that was acknowledged before.',
          refusals: STORED_PLANT,
          headers: ['etag'],
          successes: () => ({
            200: Plant,
            304: 'If-None-Match names the entity tag of the plant.',
          }),
        },
      },
    )
    .put(
      '/plants/:id',
      async ({ params, body, request, exchange }) => {
        const plant = { id: idOf(params, body), ...body }
        const options = conditionally(deps, exchange)
        // The client requires that the plant does not exist.
        const isNew = options.precondition?.ifNoneMatch === '*' && !options.precondition.ifMatch
        const { createPlant, replacePlant } = deps.store
        await (isNew ? createPlant : replacePlant)(plant, options).catch((error) => {
          throw putError(error)
        })
        return plantResponse(deps, request, represent(plant), isNew ? 201 : 200)
      },
      {
        ...deps.bodies.json(Replacement),
        params: PlantPath,
        detail: {
          operationId: 'replacePlant',
          summary: 'Replace a plant',
          description:
            'Replaces all its fields: an optional text that is not sent is removed. With `If-None-Match: *` alone, creates the plant (201), or fails with 41201 if there is one.',
          refusals: STORED_PLANT,
          headers: ['etag'],
          successes: () => ({ 200: Plant, 201: Plant }),
        },
      },
    )

// A patch is read, merged and written as JSON.
const PATCH_COPIES = 4

/** The routes that change and delete a plant. */
export const changedPlant = (deps: RouteDeps) => (app: App) =>
  app
    .patch(
      '/plants/:id',
      async ({ params, body, request, exchange }) => {
        const id = idOf(params, body)
        const { id: _id, ...texts } = body
        const options = conditionally(deps, exchange)
        // Read for its length: a short patch may have a long response, and no change is made without room for it.
        const before = await deps.store.readPlant(id)
        using _ = deps.budget.reserve(charactersOf({ ...before, ...texts }) * PATCH_COPIES)
        const after = await deps.store.patchPlant(id, texts, options)
        return plantResponse(deps, request, represent(after))
      },
      {
        ...deps.bodies.json(PlantPatch),
        params: PlantPath,
        detail: {
          operationId: 'patchPlant',
          summary: 'Change some fields of a plant',
          description:
            'With a JSON Merge Patch (RFC 7396): a field that is not sent stays; null removes an optional text.',
          refusals: STORED_PLANT,
          headers: ['etag'],
          successes: () => ({ 200: Plant }),
        },
      },
    )
    .delete(
      '/plants/:id',
      async ({ params, exchange }) => {
        const options = conditionally(deps, exchange)
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
          refusals: STORED_PLANT,
          successes: () => ({ 204: 'The plant is gone.' }),
        },
      },
    )
