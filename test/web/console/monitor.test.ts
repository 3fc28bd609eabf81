// The health of the service, as the console shows it.
import { describe, expect, test } from 'bun:test'
import { Session } from '../../../src/web/console/session'
import { createMonitor } from '../../../src/web/console/status/monitor'
import { TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'

const { daemon } = ownDaemon()

/** Starts a service that returns this status, or refuses the token if the status is null. */
function serve(status: object | null) {
  return Bun.serve({
    port: 0,
    fetch: ({ url }) => {
      const { pathname } = new URL(url)
      if (pathname === '/token')
        return Response.json({ name: 'a', scope: 'write', changeLog: false })
      if (status) return Response.json(status)
      return Response.json({ error: 40102, message: 'the token was revoked' }, { status: 401 })
    },
  })
}

async function monitorOf(url: string | URL) {
  const session = new Session(new URL(url))
  await session.connect(TOKEN)
  return { session, monitor: createMonitor(session) }
}

describe('the monitor of the console', () => {
  test('reads the number of plants and that the daemon can write', async () => {
    await daemon.create('{"id":1,"name":"Fern"}')
    const { monitor } = await monitorOf(`${daemon.url}/`)

    await monitor.poll()

    expect(monitor.health.value).toEqual({ state: 'healthy', since: null })
    expect(monitor.latest.value).toMatchObject({ plants: 1, writable: true, database: 'plants.db' })
  })

  test('shows why and since when the service cannot write', async () => {
    const problem = { name: 'disk full', message: 'disk full; nothing was stored' }
    await using service = serve({
      version: '1.0.0',
      engine: 'sqlite',
      plants: null,
      writable: false,
      problem,
    })
    const { session, monitor } = await monitorOf(service.url)

    await monitor.poll()
    const first = monitor.health.value
    await monitor.poll()

    expect(first).toMatchObject({ state: 'failing', message: problem.message })
    expect(first.since).toBeGreaterThan(0)
    expect(monitor.health.value).toEqual(first)
    expect(session.isReachable.value).toBeTrue()
  })

  test('shows that the service does not respond', async () => {
    await using service = serve(null)
    const { session, monitor } = await monitorOf(service.url)
    await service.stop(true)

    await monitor.poll()

    expect(monitor.health.value.state).toBe('silent')
    expect(session.isReachable.value).toBeFalse()
  })

  test('reports a refused token, and the health is unknown', async () => {
    await using service = serve(null)
    const { session, monitor } = await monitorOf(service.url)

    await monitor.poll()

    expect(session.refusal.value).toBe('the token was revoked')
    expect(monitor.health.value).toEqual({ state: 'unknown', since: null })
    expect(session.isReachable.value).toBeTrue()
  })

  test('polls again at once if a poll is requested during another', async () => {
    const answers: (() => void)[] = []
    let isConnected = false
    await using service = Bun.serve({
      port: 0,
      fetch: async ({ url }) => {
        if (url.endsWith('/token'))
          return Response.json({ name: 'a', scope: 'write', changeLog: false })
        if (isConnected) await new Promise<void>((resolve) => answers.push(resolve))
        return Response.json({ plants: 1, writable: true })
      },
    })
    const { session, monitor } = await monitorOf(service.url)
    isConnected = session.isConnected.value
    let isHidden = false
    void monitor.watch(() => isHidden)
    await until('the first poll', () => answers.length === 1)
    monitor.pollNow()
    answers[0]?.()

    await until('the second poll', () => answers.length === 2, 1500)
    // The watch never ends: unless hidden, it would poll during the tests of other files.
    isHidden = true
    answers[1]?.()
  })
})
