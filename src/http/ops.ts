import { Elysia } from 'elysia'
import { PlantError } from '../errors'
import type { Metrics } from '../metrics'
import type { Store } from '../store'
import { answerJson, jsonHeaders } from './answer'

/** `GET /health`, for whoever watches the daemon; it needs no credentials. */
export function health(store: Store) {
  return new Elysia({ name: 'health' }).get(
    '/health',
    async () => {
      try {
        await store.probe()
      } catch (error) {
        // Whatever keeps it from writing, it is not available.
        throw new PlantError(50302, error instanceof PlantError ? error.message : undefined)
      }
      return answerJson({ status: 'ok' })
    },
    { detail: { operationId: 'health', summary: 'Tells whether the store can write' } },
  )
}

/** `GET /metrics`, for Prometheus. */
export function metricsPage(store: Store, metrics: Metrics) {
  return new Elysia({ name: 'metrics' }).get(
    '/metrics',
    () => {
      const headers = new Headers(jsonHeaders)
      headers.set('content-type', 'text/plain; version=0.0.4; charset=utf-8')
      return new Response(metrics.render(store.stats()), { headers })
    },
    { detail: { operationId: 'metrics', summary: 'Metrics in the Prometheus text format' } },
  )
}
