// A server of tests that speaks no proper HTTP.
import { createServer, type Socket } from 'node:net'

/** The answer to the first bytes of a client, which ends the connection; or what to do with its socket. */
export type Behavior = string | ((socket: Socket) => void)

/** Starts a TCP server, on which `begin` is called with each connection. `using server = await listenTcp(…)` stops it. */
export async function listenTcp(begin: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    begin(socket)
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

/** Starts a server with a behavior; see {@link listenTcp}. */
export const behave = (behavior: Behavior) =>
  listenTcp((socket) =>
    socket.on('data', () =>
      typeof behavior === 'string' ? void socket.end(behavior, 'latin1') : behavior(socket),
    ),
  )
