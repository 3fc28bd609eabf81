import { Elysia, t } from 'elysia'
import type { Metrics } from '../metrics'
import type { Store } from '../store'
import { answers, READING, refusals, responses } from './describe'
import type { Unsent } from './unsent'

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8'

/** `GET /metrics`, for Prometheus. */
export function metricsPage(store: Store, metrics: Metrics, unsent: Unsent) {
  return new Elysia({ name: 'metrics' }).get(
    '/metrics',
    async ({ request }) => {
      const kept = {
        unsentBytes: unsent.bytes(),
        files: await metrics.countFiles(),
        // In an outage, the other metrics matter most.
        changes: (await store.changes?.stats().catch(() => null)) ?? null,
      }
      const answer = unsent.answerZipped(request, metrics.render(store.stats(), kept))
      answer.headers.set('content-type', TEXT_FORMAT)
      return answer
    },
    {
      detail: {
        operationId: 'metrics',
        summary: 'Read the metrics',
        description: 'In the Prometheus text format, version 0.0.4.',
        tags: ['operations'],
        responses: responses(() => ({
          ...answers(200, 'The metrics.', t.String(), {
            type: 'text/plain',
            example: 'plantstore_plants_created_total 1\n',
          }),
          ...refusals(...READING),
        })),
      },
    },
  )
}
