// The server's socket: opens it, and closes it without losing a request.
import type { AnyElysia } from 'elysia'
import { OpenError, PlantError } from '../errors'
import type { Log } from '../log'
import { routesOf } from './adapter'
import { answerError } from './errors'

// Only a backstop, since Bun's own 413 has no body: the app refuses what is longer than its limit.
const BACKSTOP_BODY_BYTES = 2 ** 40
// Bun counts from the first byte of a request to the last.
const REQUEST_SECONDS = 60
// Busy clients send their next request within some milliseconds, on a machine that is busy too.
const SETTLED_MS = 30
const LONGEST_HOLD_MS = 300
const POLL_MS = 5
const QUIET_MS = 100

export type Server = {
  readonly port: number
  /** Stops accepting, answers what is in flight for so many milliseconds at most, then closes every connection. */
  drain(milliseconds: number): Promise<void>
}

type Handler = (request: Request) => Response | Promise<Response>

/** Serves an app at an address; port 0 picks a free one. Throws an {@link OpenError} where that cannot be. */
export function listen(
  app: AnyElysia,
  { host, port }: { readonly host: string; readonly port: number },
  log: Log,
): Server {
  let held: Promise<void> | undefined
  const holdable =
    (handle: Handler): Handler =>
    (request) =>
      held ? held.then(() => handle(request)) : handle(request)

  const server = serve(app, holdable, host, port, log)

  // Resolves once no more requests come in: those who wait for an answer send none.
  async function settle(): Promise<void> {
    const started = performance.now()
    let most = 0
    let grown = started
    for (let now = started; now < grown + SETTLED_MS && now < started + LONGEST_HOLD_MS; ) {
      await Bun.sleep(1)
      now = performance.now()
      if (server.pendingRequests > most) grown = now
      most = Math.max(most, server.pendingRequests)
    }
  }

  async function drain(milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds
    // Bun closes idle connections when it stops, and resets one whose next request has just come in. So every request
    // is held until all busy clients have sent theirs: no connection is idle then, and all are answered.
    const release = Promise.withResolvers<void>()
    held = release.promise
    await settle()
    let isStopped = false
    server.stop(false).then(() => {
      isStopped = true
    })
    held = undefined
    release.resolve()
    // A connection with half of a request's head is not waited for.
    let quiet = 0
    while (!isStopped && quiet < QUIET_MS && performance.now() < deadline) {
      await Bun.sleep(POLL_MS)
      quiet = server.pendingRequests === 0 ? quiet + POLL_MS : 0
    }
    await server.stop(true)
  }

  return { port: server.port ?? port, drain }
}

function serve(
  app: AnyElysia,
  holdable: (handle: Handler) => Handler,
  host: string,
  port: number,
  log: Log,
): Bun.Server<unknown> {
  const routes = Object.entries(routesOf(app)).map(([path, handle]) => [path, holdable(handle)])
  try {
    return Bun.serve({
      hostname: host,
      port,
      // A second daemon must not share the port in silence.
      reusePort: false,
      maxRequestBodySize: BACKSTOP_BODY_BYTES,
      idleTimeout: REQUEST_SECONDS,
      development: false,
      error(error) {
        log('error', 'unexpected', { detail: error.stack ?? error.message })
        return answerError(new PlantError(50001))
      },
      routes: Object.fromEntries(routes),
    })
  } catch (error) {
    throw explainListening(error as NodeJS.ErrnoException, host, port)
  }
}

function explainListening({ code, message }: NodeJS.ErrnoException, host: string, port: number) {
  switch (code) {
    case 'EADDRINUSE':
      return new OpenError(
        `${host}:${port} is already in use; choose another --port, or stop the other program`,
      )
    case 'EACCES':
      return new OpenError(`no permission to listen on port ${port}; choose a --port above 1023`)
    case 'EADDRNOTAVAIL':
      return new OpenError(`${host} is not an address of this machine; choose another --host`)
    // Bun's answer where a name has no address.
    case 'ENOENT':
      return new OpenError(`cannot resolve host ${host}`)
    default:
      return new OpenError(`cannot listen on ${host}:${port}: ${message}`)
  }
}
