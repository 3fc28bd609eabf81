import type { AnyElysia } from 'elysia'
import { OpenError, PlantError } from '../errors'
import type { Log } from '../log'
import { routesOf } from './adapter'
import { answerError } from './errors'

// Bun's own limit is only a backstop: its answer has no body. The app refuses what is longer than its own.
const BACKSTOP_BODY_BYTES = 2 ** 40
// Bun counts from the first byte of a request to the last.
const REQUEST_SECONDS = 60
const QUIET_MS = 200
const POLL_MS = 10
const LATE_MS = 1000

/** Serves an app at an address; port 0 picks a free one. Throws an {@link OpenError} where that cannot be. */
export function listen(
  app: AnyElysia,
  { host, port }: { readonly host: string; readonly port: number },
  log: Log,
): Bun.Server<unknown> {
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
      routes: routesOf(app),
    })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const place = `${host}:${port}`
    if (code === 'EADDRINUSE')
      throw new OpenError(`${place} is in use: choose another --port, or stop what uses it`)
    if (code === 'EACCES')
      throw new OpenError(`${place} is not allowed to this user: choose a --port above 1023`)
    throw new OpenError(`${place} cannot be listened on: ${message}`)
  }
}

/**
 * Stops a server once what is in flight is answered, or when it is over.
 *
 * Bun's graceful stop drops a connection that has just sent a request. So clients are first told, with each answer, to
 * close their connections, until no request has been in flight for a while. Clients that connect anew for each request,
 * if they are few, leave a moment without one: then that has to do.
 */
export async function drain(server: Bun.Server<unknown>, isOver: () => boolean): Promise<void> {
  const late = performance.now() + LATE_MS
  let quiet = 0
  while (quiet < (performance.now() < late ? QUIET_MS : POLL_MS) && !isOver()) {
    await Bun.sleep(POLL_MS)
    quiet = server.pendingRequests === 0 ? quiet + POLL_MS : 0
  }
  await server.stop(true)
}
