// A TCP proxy whose connections a test can cut at a chosen moment.
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../../tools/free-port'
import { until } from './until'

/** A client's connection, and the proxy's own to the server. */
type Pair = { readonly client: Socket; readonly server: Socket }

/** The direction in which bytes are held back: requests or answers. */
type Way = 'requests' | 'answers'

type Options = {
  /** The milliseconds that it adds each way. */
  readonly delay?: number
  readonly hostname?: string
  readonly port?: number
  /** Called with the bytes of each connection, before they are passed on. */
  readonly watch?: (pair: Pair, way: Way, bytes: number) => void
}

/** Holds back one direction, from bytes that contain a word. */
function createHold() {
  let held: Way | null = null
  let from = ''
  let isHolding = false
  return {
    hold(way: Way, word = ''): void {
      held = way
      from = word
      isHolding = false
    },
    isHeld(way: Way, bytes: Buffer): boolean {
      if (held !== way || !(isHolding || bytes.includes(from))) return false
      isHolding = true
      return true
    },
    untilHeld: () => until('bytes to hold back', () => isHolding),
    release(): void {
      held = null
    },
  }
}

/** Starts a proxy to a port of this machine, or to the one that a function returns for each connection. */
export function startProxy(to: number | (() => number), options: Options = {}) {
  const { delay = 0, hostname = '127.0.0.1', port = freePort(), watch } = options
  const pairs = new Set<Pair>()
  const silent = new Set<Socket>()
  const { hold, isHeld, untilHeld, release } = createHold()

  function pass(pair: Pair, way: Way): void {
    const [from, onto] =
      way === 'requests' ? [pair.client, pair.server] : [pair.server, pair.client]
    from.on('data', (bytes: Buffer) => {
      watch?.(pair, way, bytes.length)
      if (isHeld(way, bytes)) return
      if (delay === 0) onto.write(bytes)
      else setTimeout(() => onto.write(bytes), delay)
    })
    from.on('error', () => onto.destroy())
  }

  const listener = createServer({ noDelay: true }, (client) => {
    const target = typeof to === 'number' ? to : to()
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true })
    const pair = { client, server }
    pairs.add(pair)
    pass(pair, 'requests')
    pass(pair, 'answers')
    server.on('close', () => client.end())
    client.on('close', () => {
      pairs.delete(pair)
      if (!silent.has(server)) server.end()
    })
  }).listen(port, hostname)

  return {
    port,
    /** Holds back one direction, from the next bytes that contain a word until the connections are cut. */
    hold,
    /** Resolves once bytes were held back. */
    untilHeld,
    /** Passes later bytes on; those held back never arrive. */
    release,
    /** Stops reading from the server on the open connections, even once the client has closed them; new ones work. */
    silence(): void {
      for (const { server } of pairs) silent.add(server.pause())
    },
    /** Cuts every client's connection; new ones work. */
    cut(): void {
      release()
      for (const { client } of pairs) client.destroy()
    },
    [Symbol.dispose](): void {
      listener.close()
      for (const { client, server } of pairs) silent.add(client).add(server)
      for (const socket of silent) socket.destroy()
    },
  }
}
