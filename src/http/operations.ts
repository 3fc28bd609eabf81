import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import type { ErrorNumber } from '../errors'
import { NewPlant, Plant } from '../plant'
import { PlantBatch } from './plants'

/** What the description says of an operation beside its route. */
export type Operation = {
  readonly success: number
  readonly description: string
  /** The schema of the answer's body; null: it has none; or its media type, where it is not JSON. */
  readonly answer: keyof typeof components | 'text/plain' | null
  readonly example?: unknown
  readonly headers?: Readonly<Record<string, unknown>>
  readonly isPublic?: boolean
  readonly errors: readonly ErrorNumber[]
}

// Not by Elysia's `t.Integer`, which compiles a validator at once: these only describe.
const PlantPage = t.Object({ plants: t.Array(NewPlant), next: t.Union([t.String(), t.Null()]) })
const Created = t.Object({ created: Type.Integer({ minimum: 1, maximum: 1000 }) })
const Health = t.Object({ status: t.Literal('ok') })
const Description = t.Object({ openapi: t.String() })
const ErrorBody = t.Object({ error: Type.Integer({ format: 'int32' }), message: t.String() })

/** The schemas that have a name. */
export const components = {
  Plant,
  NewPlant,
  PlantBatch,
  PlantPage,
  Created,
  Health,
  Description,
  Error: ErrorBody,
}

const UNAUTHORIZED = [40101, 40102] as const
const BODY = [40001, 40002, 41301, 41501] as const
const STORAGE = [50001, 50301, 50302] as const
const READING = [...UNAUTHORIZED, 50001, 50302] as const
const WRITING = [...UNAUTHORIZED, 40301, ...STORAGE, 50701] as const

const monstera = { name: 'Monstera deliciosa', tag: 'aroid' }
const stored = { id: 1, ...monstera }

/** Every operation by its `operationId`. */
export const operations: Readonly<Record<string, Operation>> = {
  createPlant: {
    success: 200,
    description: 'The plant is durable.',
    answer: 'Plant',
    example: monstera,
    errors: [...BODY, ...WRITING, 40901, 40902],
  },
  createPlants: {
    success: 200,
    description: 'All plants are durable.',
    answer: 'Created',
    example: { created: 1 },
    errors: [...BODY, ...WRITING, 40901, 40902],
  },
  listPlants: {
    success: 200,
    description: 'A page of plants; `next` is what to give as `after` for the next one.',
    answer: 'PlantPage',
    example: { plants: [stored], next: null },
    headers: { Link: { description: 'The next page (RFC 8288)', schema: { type: 'string' } } },
    errors: [40002, ...READING],
  },
  readPlant: {
    success: 200,
    description: 'The plant.',
    answer: 'NewPlant',
    example: stored,
    errors: [40002, 40402, ...READING],
  },
  replacePlant: {
    success: 200,
    description: 'The plant as it is stored now.',
    answer: 'NewPlant',
    example: stored,
    errors: [...BODY, 40402, ...WRITING],
  },
  deletePlant: {
    success: 204,
    description: 'There is no such plant any more.',
    answer: null,
    errors: [40002, 40402, ...WRITING],
  },
  health: {
    success: 200,
    description: 'The store can write.',
    answer: 'Health',
    example: { status: 'ok' },
    isPublic: true,
    errors: [50001, 50302],
  },
  openapi: {
    success: 200,
    description: 'This description.',
    answer: 'Description',
    isPublic: true,
    errors: [50001],
  },
  metrics: {
    success: 200,
    description: 'Metrics.',
    answer: 'text/plain',
    example: 'plantstore_plants_created_total 1\n',
    errors: READING,
  },
}
