// Stopping a daemon that is still looking for its server.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { PATIENCE_MS, startProgram } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

/** A port that accepts connections and never answers. */
function startSilent() {
  const connected = Promise.withResolvers<void>()
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => connected.resolve(), data() {} },
  })
  return {
    host: `127.0.0.1:${server.port}`,
    connected: connected.promise,
    [Symbol.dispose]: () => server.stop(true),
  }
}

test.each([
  [1, 60],
  [2, 60],
  // The first host has been given up.
  [2, 1],
])('a start that waits for %i hosts, each for %i s, ends at SIGTERM', async (count, seconds) => {
  using first = startSilent()
  using second = startSilent()
  const hosts = [first, second].slice(0, count)
  const url = `postgres://nobody@${hosts.map(({ host }) => host)}/plants?connect_timeout=${seconds}`
  await using daemon = startProgram(['serve', '--port', '0', '--database', url])
  await (seconds === 1 ? second : first).connected

  const code = await daemon.stop()

  expect(code).toBe(0)
  expect(daemon.err()).not.toContain('close-failed')
  expect(daemon.err().trimEnd()).toEndWith('"event":"stopped"}')
})
