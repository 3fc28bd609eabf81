// The server's socket: opens it, and closes it without losing a request.

import type { AnyElysia } from 'elysia'
import { codeOf, messageOf, OpenError } from '../../errors'
import { type Handler, routesOf } from '../../http/elysia'
import { errorResponse, toRequestError } from '../../http/responses/errors'
import { UNREAD_SECONDS } from '../../http/responses/respond'
import type { Log } from '../../log'

// Only a backstop, as Bun's own 413 has no body: the app itself refuses bodies beyond its limit.
const BACKSTOP_BODY_BYTES = Number.MAX_SAFE_INTEGER
// Bun's idle timeout: from the first byte of a request to its last, until the response, and while nothing is sent.
// The first head on a TCP connection has only 10 seconds, which Bun has fixed.
const REQUEST_SECONDS = 60
// Busy clients send their next request within this time, even with pauses of some 10 ms, or on a busy machine.
const SETTLED_MS = 100
const MAX_HOLD_MS = 500
const POLL_MS = 5
const QUIET_MS = 100

// Only with forward secrecy and authenticated encryption: Bun's default has static RSA and CBC too. TLS 1.3 has no other.
const TLS_1_2_CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20'

/** An address and a port, 0 for a free one; or the path of a unix socket. */
type Address = { readonly host: string; readonly port: number } | { readonly unix: string }

/** A certificate chain and the private key of its first certificate, in PEM. */
type KeyPair = { readonly cert: string; readonly key: string }

export type Server = {
  /** null on a unix socket. */
  readonly port: number | null
  /** The address of a request's peer; null for a unix socket. The request must be in flight. */
  peerOf(request: Request): string | null
  /** Closes the connection of a request in flight after this many seconds without progress; not on a unix socket. */
  timeOut(request: Request, seconds: number): void
  /** Stops accepting, answers requests in flight for at most this many milliseconds, then closes all connections. */
  drain(milliseconds: number): Promise<void>
}

/** Throws an {@link OpenError} if the port cannot be bound. Port 0: any. */
export function checkPort(host: string, port: number): void {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true)
  } catch (error) {
    throw listenError(error, host, port)
  }
}

/** Serves an app at an address, with `pair` by TLS. Throws an {@link OpenError} if it cannot be bound. */
export function listen(
  app: AnyElysia,
  address: Address,
  log: Log,
  pair: KeyPair | null = null,
): Server {
  let holdEnd: Promise<void> | undefined
  const holding =
    (handle: Handler): Handler =>
    (request) =>
      holdEnd ? holdEnd.then(() => handle(request)) : handle(request)
  const routes = Object.entries(routesOf(app)).map(([path, handle]) => [path, holding(handle)])
  const server = serve(Object.fromEntries(routes), log, address, pair)
  /** Holds each request that arrives. Returns a function that serves them. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    holdEnd = promise
    return resolve
  }
  return {
    port: server.port ?? null,
    peerOf: (request) => server.requestIP(request)?.address ?? null,
    timeOut: (request, seconds) => server.timeout(request, seconds),
    drain: (milliseconds) => drain(server, hold, milliseconds),
  }
}

/** Resolves once no more requests come in: clients that wait for a response send none. */
async function untilQuiet(server: Bun.Server<unknown>): Promise<void> {
  const startedAt = performance.now()
  let maxPending = 0
  let grownAt = startedAt
  let now = startedAt
  while (now < grownAt + SETTLED_MS && now < startedAt + MAX_HOLD_MS) {
    await Bun.sleep(1)
    now = performance.now()
    const pending = server.pendingRequests
    if (pending > maxPending) grownAt = now
    maxPending = Math.max(maxPending, pending)
  }
}

/** See {@link Server}. */
async function drain(
  server: Bun.Server<unknown>,
  hold: () => () => void,
  milliseconds: number,
): Promise<void> {
  const deadline = performance.now() + milliseconds
  // When Bun stops, it closes idle connections, and resets one whose next request has just arrived. So all requests are
  // held until every busy client has sent its own: then no connection is idle, and all are answered.
  const release = hold()
  await untilQuiet(server)
  let isStopped = false
  server.stop(false).then(() => {
    isStopped = true
  })
  release()
  // A connection with half of a request's head is not waited for.
  let quiet = 0
  while (!isStopped && quiet < QUIET_MS && performance.now() < deadline) {
    await Bun.sleep(POLL_MS)
    quiet = server.pendingRequests === 0 ? quiet + POLL_MS : 0
  }
  await server.stop(true)
}

function serve(
  routes: Readonly<Record<string, Handler>>,
  log: Log,
  address: Address,
  pair: KeyPair | null,
): Bun.Server<unknown> {
  try {
    return Bun.serve({
      ...('unix' in address
        ? { unix: address.unix }
        : // A second daemon must not share the port silently.
          { hostname: address.host, port: address.port, reusePort: false }),
      ...(pair ? { tls: { ...pair, ciphers: TLS_1_2_CIPHERS } } : {}),
      maxRequestBodySize: BACKSTOP_BODY_BYTES,
      // Bun's types have none for a unix socket, where it is the only limit: `timeout` does nothing
      // (oven-sh/bun#43816).
      idleTimeout: ('unix' in address ? UNREAD_SECONDS : REQUEST_SECONDS) as never,
      development: false,
      error: (error) => errorResponse(toRequestError(error, log)),
      routes,
    })
  } catch (error) {
    if ('unix' in address) throw error
    throw listenError(error, address.host, address.port)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'not an address of this machine',
  EACCES: 'permission denied',
}
/** Bun's codes for a name without an address: any earlier one, or none. */
const UNKNOWN_HOST = /^(ENOENT|ENOTFOUND|EINVAL|)$/

function listenError(error: unknown, host: string, port: number): OpenError {
  const code = codeOf(error)
  const reason = UNKNOWN_HOST.test(code) ? 'unknown host' : (REASONS[code] ?? messageOf(error))
  return new OpenError(`cannot listen on ${host}:${port}: ${reason}; see --host and --port`)
}
