// The routes for operators.

import * as t from '@sinclair/typebox'
import packageJson from '../../../package.json'
import { RequestError } from '../../errors'
import type { BackupStats, Metrics, OpenFiles } from '../../metrics'
import { COMMIT } from '../../program'
import type { ReplicaStats, Store } from '../../store'
import { answerJson } from '../answers/answer'
import type { AnswerBudget } from '../answers/answer-budget'
import type { Followers } from '../feed/followers'
import type { App } from '../request-context'
import { answers } from './describe'
import { Health, Status } from './schemas'

/** `GET /health`, for monitoring; needs no credentials. 503 only if the store cannot write, or a replica cannot read. */
export const health = (store: Store) => (app: App) =>
  app.get(
    '/health',
    async () => {
      const status = await store.probe().catch((error) => {
        throw new RequestError(
          'storage failed',
          error instanceof RequestError ? error.message : undefined,
        )
      })
      return answerJson({ status })
    },
    {
      detail: {
        operationId: 'health',
        summary: 'Check whether the store can write',
        description:
          'For supervisors and load balancers. Needs no token. A read-only service answers whether it can read.',
        security: [],
        refusals: ['storage failed'],
        answers: () => answers(200, 'The store can write.', Health, { example: { status: 'ok' } }),
      },
    },
  )

/** The facts about a daemon that its store does not know. */
export type Service = {
  readonly engine: 'sqlite' | 'postgresql'
  /** The name of the database, without its folder or server. */
  readonly database: string
  /** null if no backups are scheduled. */
  readonly backups: BackupStats | null
  /** The address to which clients of a read-only daemon send changes; null if unknown. */
  readonly primaryUrl: string | null
}

type StatusDeps = {
  readonly store: Store
  readonly service: Service
  readonly followers: Followers
  readonly now: () => number
}

const EXAMPLE_STATUS = {
  version: packageJson.version,
  commit: '08899f921b79',
  engine: 'sqlite',
  database: 'plants.db',
  plants: 1,
  readOnly: false,
  writable: true,
  problem: null,
  replica: null,
  damaged: false,
  uptimeSeconds: 3600,
  lastBackup: { at: '2030-05-01T12:00:00.000Z', ageSeconds: 1800 },
  changeLog: null,
  followers: 0,
}

/** The last backup at a time; null if there is none. */
function lastBackupAt(backups: BackupStats | null, now: number) {
  if (!backups || backups.lastAt === 0) return null
  const { lastAt } = backups
  const ageSeconds = Math.max(0, Math.floor((now - lastAt) / 1000))
  return { at: new Date(lastAt).toISOString(), ageSeconds }
}

async function changeLogOf({ changeLog }: Store) {
  const stats = await changeLog?.stats().catch(() => null)
  if (!stats) return null
  const { entries, bytes, oldestAt, keepMs } = stats
  const oldest = oldestAt === null ? null : new Date(oldestAt).toISOString()
  return { entries, bytes, oldest, keepSeconds: Math.round(keepMs / 1000) }
}

const replicaOf = ({ lagSeconds, lagBytes }: ReplicaStats, primary: string | null) => ({
  lagSeconds: lagSeconds && Math.round(lagSeconds * 1000) / 1000,
  lagBytes,
  primary,
})

/** `GET /status`, for people and scripts: the known state. It writes nothing. */
const status =
  ({ store, service, followers, now }: StatusDeps) =>
  (app: App) =>
    app.get(
      '/status',
      async () => {
        const { problem, isDamaged = false, replica = null } = store.stats()
        // In an outage, the rest matters most.
        const [plants, changeLog] = await Promise.all([
          store.countPlants().catch(() => null),
          changeLogOf(store),
        ])
        return answerJson({
          version: packageJson.version,
          commit: COMMIT,
          engine: service.engine,
          database: service.database,
          plants,
          readOnly: replica !== null,
          writable: problem === null && replica === null,
          problem: problem && { name: problem.error, message: problem.message },
          replica: replica && replicaOf(replica, service.primaryUrl),
          damaged: isDamaged,
          uptimeSeconds: Math.floor(performance.now() / 1000),
          lastBackup: lastBackupAt(service.backups, now()),
          changeLog,
          followers: followers.count(),
        })
      },
      {
        detail: {
          operationId: 'readStatus',
          summary: 'Read the state of the service',
          description:
            'Whether it can write, and if not, why; how far a replica lags behind; its version, the number of plants, the last backup and the change log. With any token.',
          answers: () => answers(200, 'The state.', Status, { example: EXAMPLE_STATUS }),
        },
      },
    )

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8'

type MetricsDeps = {
  readonly store: Store
  readonly metrics: Metrics
  readonly countFiles: () => OpenFiles | null
  readonly answerBudget: AnswerBudget
  readonly followers: Followers
}

/** `GET /metrics`, for Prometheus. */
const metricsPage =
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
          unsentBytes: answerBudget.bytesHeld(),
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
          refusals: ['busy'],
          answers: () =>
            answers(200, 'The metrics.', t.String(), {
              type: 'text/plain',
              example: 'plantstore_plants_created_total 1\n',
            }),
        },
      },
    )

/** The routes for operators that need a token. */
export const operations = (deps: StatusDeps & MetricsDeps) => (app: App) =>
  app.use(status(deps)).use(metricsPage(deps))
