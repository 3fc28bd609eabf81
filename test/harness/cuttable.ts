// A TCP proxy whose connections a test can cut at a chosen moment.
import type { Socket } from 'bun'

type Pair = {
  client: Socket<Side>
  server: Socket<Side> | null
  early: Buffer[]
  isHalfOpen: boolean
  isSilent: boolean
}
type Side = { readonly pair: Pair; readonly isClient: boolean }

/** The direction in which bytes are held back: requests or answers. */
export type Held = 'nothing' | 'requests' | 'answers'

/**
 * Starts a proxy to a port of this machine; `delay`: the milliseconds that it adds each way; `at`: its own address.
 * `using` ends it.
 */
export function startProxy(to: number, delay = 0, at = { hostname: '127.0.0.1', port: 0 }) {
  const forward = (socket: Socket<Side>, bytes: Buffer): void => {
    if (delay === 0) socket.write(bytes)
    else {
      const copy = Buffer.from(bytes)
      setTimeout(() => socket.write(copy), delay)
    }
  }

  const pairs = new Set<Pair>()
  const silent = new Set<Socket<Side>>()
  let held: Held = 'nothing'
  let from = ''
  let recent = 0
  let waiters: (() => void)[] = []

  function isHeld(way: Held, bytes: Buffer): boolean {
    if (held !== way || (recent === 0 && !bytes.includes(from))) return false
    recent += 1
    for (const resolve of waiters.splice(0)) resolve()
    return true
  }

  const listener = Bun.listen<Side>({
    ...at,
    socket: {
      async open(client) {
        const pair: Pair = { client, server: null, early: [], isHalfOpen: false, isSilent: false }
        client.data = { pair, isClient: true }
        pairs.add(pair)
        pair.server = await Bun.connect<Side>({
          hostname: '127.0.0.1',
          port: to,
          data: { pair, isClient: false },
          socket: {
            data(_, bytes) {
              if (!pair.isHalfOpen && !isHeld('answers', bytes)) forward(client, bytes)
            },
            close() {
              client.end()
            },
            error() {},
          },
        }).catch(() => null)
        if (!pair.server) client.terminate()
        for (const bytes of pair.early.splice(0)) pair.server?.write(bytes)
      },
      data({ data: { pair } }, bytes) {
        if (pair.isHalfOpen || isHeld('requests', bytes)) return
        if (pair.server) forward(pair.server, bytes)
        else pair.early.push(Buffer.from(bytes))
      },
      close({ data: { pair } }) {
        pairs.delete(pair)
        if (!pair.isSilent) pair.server?.end()
      },
      error() {},
    },
  })

  return {
    port: listener.port,
    /** Holds back one direction, from the next bytes that contain a word until the connections are cut. */
    hold(way: Held, word = ''): void {
      held = way
      from = word
      recent = 0
    },
    /** Resolves once bytes were held back. */
    async untilHeld(): Promise<void> {
      while (recent === 0) await new Promise<void>((resolve) => waiters.push(resolve))
    },
    /** Passes later bytes on; those held back never arrive. */
    release(): void {
      held = 'nothing'
    },
    /** Silences the open connections without closing them; new ones work. */
    halfOpen(): void {
      for (const pair of pairs) pair.isHalfOpen = true
    },
    /** Stops reading from the server on the open connections, even once the client has closed them. */
    silence(): void {
      for (const pair of pairs) {
        pair.isSilent = true
        pair.server?.pause()
        if (pair.server) silent.add(pair.server)
      }
    },
    /** Cuts every client's connection; new ones work. `keepServer`: the server does not notice. */
    cut(keepServer = false): void {
      held = 'nothing'
      for (const pair of [...pairs]) {
        if (keepServer) pair.server = null
        pair.client.terminate()
      }
      pairs.clear()
    },
    [Symbol.dispose](): void {
      for (const server of silent) server.terminate()
      for (const { client, server } of pairs) {
        client.terminate()
        server?.terminate()
      }
      waiters = []
      listener.stop(true)
    },
  }
}
