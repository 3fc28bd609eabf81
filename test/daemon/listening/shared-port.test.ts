// The listeners of one process on one port.
import { expect, test } from 'bun:test'
import { createSharedPort } from '../../../src/daemon/listening/shared-port'

test.skipIf(process.platform !== 'linux')(
  'an old listener is closed without an error where the newest is closed already',
  async () => {
    const sharedPort = createSharedPort()
    let port = 0
    const open = () =>
      sharedPort.open(
        (reusePort) =>
          Bun.serve({ hostname: '127.0.0.1', port, reusePort, fetch: () => new Response() }),
        (server) => void server.stop(true),
      )
    const first = open()
    port = first.listener.port ?? 0
    const others = [open(), open()]

    // As a daemon that stops.
    for (const { listener } of [first, ...others]) await listener.stop(true)

    expect(others.map(({ listener }) => listener.port)).toEqual([port, port])
    expect(first.close).not.toThrow()
  },
)
