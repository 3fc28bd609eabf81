// The routes for operators.

import * as t from '@sinclair/typebox'
import { RequestError } from '../../errors'
import type { Metrics, OpenFiles } from '../../metrics'
import type { Store } from '../../store'
import type { App } from '../access/request-context'
import { answerJson } from '../answers/answer'
import type { AnswerBudget } from '../answers/answer-budget'
import type { Followers } from '../feed/followers'
import { answers } from './describe'
import { Health } from './schemas'

/** `GET /health`, for monitoring; needs no credentials. 503 only if the store cannot write. */
export const health = (store: Store) => (app: App) =>
  app.get(
    '/health',
    async () => {
      const status = await store.probe().catch((error) => {
        throw new RequestError(
          'cannot write',
          error instanceof RequestError ? error.message : undefined,
        )
      })
      return answerJson({ status })
    },
    {
      detail: {
        operationId: 'health',
        summary: 'Check whether the store can write',
        description: 'For supervisors and load balancers. Needs no token.',
        security: [],
        refusals: ['cannot write'],
        answers: () => answers(200, 'The store can write.', Health, { example: { status: 'ok' } }),
      },
    },
  )

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8'

type MetricsDeps = {
  readonly store: Store
  readonly metrics: Metrics
  readonly countFiles: () => Promise<OpenFiles | null>
  readonly answerBudget: AnswerBudget
  readonly followers: Followers
}

/** `GET /metrics`, for Prometheus. */
export const metricsPage =
  ({ store, metrics, countFiles, answerBudget, followers }: MetricsDeps) =>
  (app: App) =>
    app.get(
      '/metrics',
      async ({ request }) => {
        // During an outage, the other metrics matter most.
        const [files, changeLog = null, plants] = await Promise.all([
          countFiles(),
          store.changeLog?.stats().catch(() => null),
          store.countPlants().catch(() => null),
        ])
        const gauges = {
          unsentBytes: answerBudget.held(),
          followers: followers.count(),
          files,
          changeLog,
          plants,
        }
        const answer = answerBudget.answerZipped(request, metrics.render(store.stats(), gauges))
        answer.headers.set('content-type', TEXT_FORMAT)
        return answer
      },
      {
        detail: {
          operationId: 'metrics',
          summary: 'Read the metrics',
          description: 'In the Prometheus text format, version 0.0.4.',
          answers: () =>
            answers(200, 'The metrics.', t.String(), {
              type: 'text/plain',
              example: 'plantstore_plants_created_total 1\n',
            }),
        },
      },
    )
