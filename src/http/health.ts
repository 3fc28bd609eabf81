import { Elysia } from 'elysia'
import { PlantError } from '../errors'
import type { Store } from '../store'
import { answerJson } from './answer'
import { answers, refusals, responses } from './describe'
import { Health } from './schemas'

/** `GET /health`, for monitoring; it needs no credentials. 503 only if the store cannot write. */
export function health(store: Store) {
  return new Elysia({ name: 'health' }).get(
    '/health',
    async () => {
      try {
        await store.probe()
      } catch (error) {
        throw new PlantError(50302, error instanceof PlantError ? error.message : undefined)
      }
      return answerJson({ status: 'ok' })
    },
    {
      detail: {
        operationId: 'health',
        summary: 'Check whether the store can write',
        description: 'For supervisors and load balancers. Needs no token.',
        tags: ['operations'],
        security: [],
        responses: responses(() => ({
          ...answers(200, 'The store can write.', Health, { example: { status: 'ok' } }),
          ...refusals(50001, 50302),
        })),
      },
    },
  )
}
