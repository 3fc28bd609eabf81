// A server of tests that speaks no proper HTTP.
import { createServer, type Socket } from 'node:net'

/** The answer to the first bytes of a client, which ends the connection; or what to do with its socket. */
export type Behavior = string | ((socket: Socket) => void)

/** Starts a TCP server. `using server = await behave('x')` stops it. */
export async function behave(behavior: Behavior) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', () =>
      typeof behavior === 'string' ? void socket.end(behavior, 'latin1') : behavior(socket),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `127.0.0.1:${(server.address() as { port: number }).port}`,
    [Symbol.dispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
