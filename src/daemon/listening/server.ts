// The server's socket: opens it, and closes it without losing a request.

import type { AnyElysia } from 'elysia'
import { codeOf, messageOf, OpenError } from '../../errors'
import { UNREAD_SECONDS } from '../../http/answers/answer-budget'
import { answerError, toRequestError } from '../../http/answers/errors'
import { type Handler, routesOf } from '../../http/elysia'
import type { Log } from '../../log'
import type { SharedPort } from './shared-port'

// Only a backstop, as Bun's own 413 has no body: the app itself refuses bodies beyond its limit.
const BACKSTOP_BODY_BYTES = Number.MAX_SAFE_INTEGER
// Bun's idle timeout: from the first byte of a request to its last, until the answer, and while nothing is sent.
// The first head on a TCP connection has only 10 seconds, which Bun has fixed.
const REQUEST_SECONDS = 60
// Busy clients send their next request within this time, even with pauses of some 10 ms, or on a busy machine.
const SETTLED_MS = 100
const MAX_HOLD_MS = 500
const POLL_MS = 5
const QUIET_MS = 100
// By then Bun has closed every idle connection; it checks every 4 seconds.
const RETIRED_MS = (REQUEST_SECONDS + 10) * 1000

// Only with forward secrecy and authenticated encryption: Bun's default has static RSA and CBC too. TLS 1.3 has no other.
const TLS_1_2_CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20'

/** An address and a port, 0 for a free one; or the path of a unix socket. */
type Address = { readonly host: string; readonly port: number } | { readonly unix: string }

/** A certificate chain and the private key of its first certificate, in PEM. */
type KeyPair = { readonly cert: string; readonly key: string }

/** A key pair, and the port that it shares with those before and after it. */
type SharedTls = { readonly pair: KeyPair; readonly sharedPort: SharedPort }

export type Server = {
  /** null on a unix socket. */
  readonly port: number | null
  /** The address of a request's peer; null for a unix socket. The request must be in flight. */
  peerOf(request: Request): string | null
  /** Closes the connection of a request in flight after this many seconds without progress; not on a unix socket. */
  timeOut(request: Request, seconds: number): void
  /** Serves new connections with another key pair; open ones end with their next answer. */
  renew(pair: KeyPair): void
  /** Stops accepting, answers requests in flight for at most this many milliseconds, then closes all connections. */
  drain(milliseconds: number): Promise<void>
}

async function closing(answer: Response | Promise<Response>): Promise<Response> {
  const response = await answer
  response.headers.set('connection', 'close')
  return response
}

/** Throws an {@link OpenError} if the port cannot be bound. Port 0: any. */
export function checkPort(host: string, port: number): void {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true)
  } catch (error) {
    throw listenError(error, host, port)
  }
}

/** Serves an app at an address. Throws an {@link OpenError} if it cannot be bound. */
export function listen(
  app: AnyElysia,
  at: Address,
  log: Log,
  tls: SharedTls | null = null,
): Server {
  const servers = new Servers(app, at, log, tls)
  return {
    port: servers.port,
    peerOf: (request) => servers.peerOf(request),
    timeOut: (request, seconds) => servers.timeOut(request, seconds),
    renew: (pair) => servers.renew(pair),
    drain: (milliseconds) => drain(servers, milliseconds),
  }
}

/** The servers at one address that have open connections: the newest, and those that it has replaced. */
class Servers {
  readonly port: number | null
  readonly #app: AnyElysia
  readonly #at: Address
  readonly #log: Log
  readonly #tls: SharedTls | null
  readonly #open = new Set<Bun.Server<unknown>>()
  #newest: { readonly listener: Bun.Server<unknown>; close(): void }
  #held: Promise<void> | undefined

  constructor(app: AnyElysia, at: Address, log: Log, tls: SharedTls | null) {
    this.#app = app
    this.#at = at
    this.#log = log
    this.#tls = tls
    this.#newest = tls
      ? this.#share(tls, tls.pair, at)
      : { listener: this.#start(null, false, at), close: () => {} }
    this.port = this.#newest.listener.port ?? null
  }

  peerOf(request: Request): string | null {
    for (const server of this.#open) {
      const peer = server.requestIP(request)
      if (peer) return peer.address
    }
    return null
  }

  timeOut(request: Request, seconds: number): void {
    for (const server of this.#open) server.timeout(request, seconds)
  }

  renew(pair: KeyPair): void {
    if (!this.#tls || 'unix' in this.#at) return
    const before = this.#newest
    const { host, port } = this.#at
    this.#newest = this.#share(this.#tls, pair, { host, port: this.port ?? port })
    // Not at once: Bun would reset a connection that is about to send a request.
    setTimeout(before.close, RETIRED_MS).unref()
  }

  pendingRequests(): number {
    return [...this.#open].reduce((sum, server) => sum + server.pendingRequests, 0)
  }

  /** Holds each request that arrives. Returns a function that serves them. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return () => {
      this.#held = undefined
      resolve()
    }
  }

  /** Stops accepting; `isForced`: closes every connection. Resolves once none is open. */
  async stop(isForced: boolean): Promise<void> {
    await Promise.all([...this.#open].map((server) => server.stop(isForced)))
  }

  #share({ sharedPort }: SharedTls, pair: KeyPair, at: Address) {
    return sharedPort.open(
      (isShared) => this.#start(pair, isShared, at),
      (server) => void server.stop(false).then(() => this.#open.delete(server)),
    )
  }

  #start(pair: KeyPair | null, isShared: boolean, at: Address): Bun.Server<unknown> {
    const answering =
      (handle: Handler): Handler =>
      (request) => {
        if (this.#held) return this.#held.then(() => handle(request))
        return server === this.#newest.listener ? handle(request) : closing(handle(request))
      }
    const server = serve(this.#app, answering, this.#log, at, pair, isShared)
    this.#open.add(server)
    return server
  }
}

/** Resolves once no more requests come in: clients that wait for an answer send none. */
async function untilQuiet(servers: Servers): Promise<void> {
  const started = performance.now()
  let most = 0
  let grown = started
  for (let now = started; now < grown + SETTLED_MS && now < started + MAX_HOLD_MS; ) {
    await Bun.sleep(1)
    now = performance.now()
    const pending = servers.pendingRequests()
    if (pending > most) grown = now
    most = Math.max(most, pending)
  }
}

/** See {@link Server}. */
async function drain(servers: Servers, milliseconds: number): Promise<void> {
  const deadline = performance.now() + milliseconds
  // When Bun stops, it closes idle connections, and resets one whose next request has just arrived. So all requests are
  // held until every busy client has sent its own: then no connection is idle, and all are answered.
  const release = servers.hold()
  await untilQuiet(servers)
  let isStopped = false
  servers.stop(false).then(() => {
    isStopped = true
  })
  release()
  // A connection with half of a request's head is not waited for.
  let quiet = 0
  while (!isStopped && quiet < QUIET_MS && performance.now() < deadline) {
    await Bun.sleep(POLL_MS)
    quiet = servers.pendingRequests() === 0 ? quiet + POLL_MS : 0
  }
  await servers.stop(true)
}

function serve(
  app: AnyElysia,
  answering: (handle: Handler) => Handler,
  log: Log,
  at: Address,
  pair: KeyPair | null,
  isShared: boolean,
): Bun.Server<unknown> {
  const routes = Object.entries(routesOf(app)).map(([path, handle]) => [path, answering(handle)])
  try {
    return Bun.serve({
      ...('unix' in at
        ? { unix: at.unix }
        : // A second daemon must not share the port silently.
          { hostname: at.host, port: at.port, reusePort: isShared }),
      ...(pair ? { tls: { ...pair, ciphers: TLS_1_2_CIPHERS } } : {}),
      maxRequestBodySize: BACKSTOP_BODY_BYTES,
      // Bun's types have none for a unix socket, where it is the only limit: `timeout` does nothing
      // (oven-sh/bun#43816).
      idleTimeout: ('unix' in at ? UNREAD_SECONDS : REQUEST_SECONDS) as never,
      development: false,
      error: (error) => answerError(toRequestError(error, log)),
      routes: Object.fromEntries(routes),
    })
  } catch (error) {
    if ('unix' in at) throw error
    throw listenError(error, at.host, at.port)
  }
}

function listenError(error: unknown, host: string, port: number): OpenError {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new OpenError(
        `${host}:${port} is already in use; choose another --port, or stop the other program`,
      )
    case 'EACCES':
      return new OpenError(`no permission to listen on port ${port}; choose a --port above 1023`)
    case 'EADDRNOTAVAIL':
      return new OpenError(`${host} is not an address of this machine; choose another --host`)
    // Bun's codes for a name without an address: any earlier one, or none.
    case 'ENOENT':
    case 'ENOTFOUND':
    case 'EINVAL':
    case '':
      return new OpenError(`cannot resolve host ${host}`)
    default:
      return new OpenError(`cannot listen on ${host}:${port}: ${messageOf(error)}`)
  }
}
