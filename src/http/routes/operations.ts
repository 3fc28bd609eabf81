// The routes for operators.

import packageJson from '../../../package.json'
import { COMMIT } from '../../program'
import { RequestError } from '../../request-errors'
import type { ReplicaStats, Store } from '../../store'
import type { App } from '../exchange'
import { jsonResponse } from '../responses/forms'
import type { RouteDeps } from '../route-deps'
import { Health, MetricsText, OwnToken, Status } from './schemas'

/** `GET /health`, for monitoring; needs no credentials. 503 only if the store cannot write, or a replica cannot read. */
export const health =
  ({ store }: RouteDeps) =>
  (app: App) =>
    app.get(
      '/health',
      async () => {
        const status = await store.probe().catch((error) => {
          throw new RequestError(
            'storage failed',
            error instanceof RequestError ? error.message : undefined,
          )
        })
        return jsonResponse({ status })
      },
      {
        detail: {
          operationId: 'health',
          summary: 'Check whether the store can write',
          description: 'For supervisors and load balancers.',
          security: [],
          refusals: ['storage failed'],
          successes: () => ({ 200: Health }),
        },
      },
    )

/** The last backup at a time; null if there is none. */
function lastBackup(at: number | null, now: number) {
  if (!at) return null
  return { at: new Date(at).toISOString(), ageSeconds: Math.max(0, Math.floor((now - at) / 1000)) }
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
export const status =
  ({ store, service, followers, now }: RouteDeps) =>
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
        return jsonResponse({
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
          lastBackup: lastBackup(service.lastBackupAt(), now()),
          changeLog,
          followers: followers.count(),
        })
      },
      {
        detail: {
          operationId: 'readStatus',
          summary: 'Read the state of the service',
          successes: () => ({ 200: Status }),
        },
      },
    )

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8'

/** `GET /metrics`, for Prometheus. */
export const metricsPage =
  ({ store, service, metrics, respondZipped, budget, followers }: RouteDeps) =>
  (app: App) =>
    app.get(
      '/metrics',
      async ({ request }) => {
        // During an outage, the other metrics matter most.
        const gauges = {
          version: packageJson.version,
          unsentBytes: budget.bytesHeld(),
          followers: followers.count(),
          plants: await store.countPlants().catch(() => null),
          lastBackupAt: service.lastBackupAt(),
          certificateExpiry: service.certificateExpiry,
        }
        const response = respondZipped(request, metrics.render(store.stats(), gauges))
        response.headers.set('content-type', TEXT_FORMAT)
        return response
      },
      {
        detail: {
          operationId: 'metrics',
          summary: 'Read the metrics',
          description: 'In the Prometheus text format, version 0.0.4.',
          refusals: ['busy'],
          successes: () => ({ 200: MetricsText }),
        },
      },
    )

/** `GET /token` returns a client's rights, so that it need not try. */
export const ownToken =
  ({ store }: RouteDeps) =>
  (app: App) =>
    app.get(
      '/token',
      ({ exchange: { token } }) => {
        if (!token) throw new RequestError('no credentials')
        const { name, scope, expiresAt } = token
        const expires = expiresAt === null ? {} : { expires: new Date(expiresAt).toISOString() }
        return jsonResponse({
          name,
          scope,
          ...expires,
          changeLog: store.changeLog !== undefined,
        })
      },
      {
        detail: {
          operationId: 'readToken',
          summary: 'Read the rights of the token',
          description:
            'A read-only service returns the scope of the token too: `readOnly` in GET /status says that it takes no changes.',
          successes: () => ({ 200: OwnToken }),
        },
      },
    )
