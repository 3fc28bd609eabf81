// The one way in which this program sends requests: with proxies, certificates, a time limit, and an explained failure.

import { OpenError } from '../errors'
import { explainNoAnswer } from './no-answer'

type SendOptions = Omit<BunFetchRequestInit, 'proxy' | 'tls'> & {
  /** The kind of server, for messages. */
  readonly target: 'daemon' | 'receiver'
  /** Time limit of the answer; of a stream, until it begins. */
  readonly seconds: number
  /** True if the caller reads the body as it arrives. */
  readonly isStream?: boolean
  /** True for requests to this machine: no proxy, and a certificate for any name. */
  readonly isLocal?: boolean
}

/** Sends a request. Throws an {@link OpenError} if there is no answer, or the signal's reason. */
export type SendRequest = (address: string | URL, options: SendOptions) => Promise<Response>

const LOOPBACK =
  /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f\w\w:\w+\])\.?$/

/** True for a loopback URL in any spelling: `URL` normalizes numbers such as `127.1`. */
export const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

async function whole(answer: Response): Promise<Response> {
  const { status, statusText, headers } = answer
  const bytes = await answer.arrayBuffer()
  return new Response(bytes.byteLength === 0 ? null : bytes, { status, statusText, headers })
}

/**
 * Returns the function that sends every request: through the proxies of the environment, as Bun reads it, but directly to
 * this machine. `hasProxy`: true if there are any.
 */
export const createSendRequest =
  (hasProxy: boolean): SendRequest =>
  async (address, { target, seconds, isStream = false, isLocal = false, signal, ...init }) => {
    const url = new URL(address)
    const isDirect = isLocal || init.unix !== undefined || isLoopback(url)
    const late = new AbortController()
    const timer = setTimeout(
      () => late.abort(new DOMException('late', 'TimeoutError')),
      seconds * 1000,
    )
    try {
      const answer = await fetch(url, {
        ...init,
        ...(isDirect ? { proxy: false } : {}),
        // Explicit, so that no variable disables it.
        tls: { rejectUnauthorized: !isLocal },
        signal: signal ? AbortSignal.any([late.signal, signal]) : late.signal,
      })
      return isStream ? answer : await whole(answer)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      const mayUseProxy = hasProxy && !isDirect
      throw new OpenError(
        explainNoAnswer(error, { url, unix: init.unix, mayUseProxy, target, seconds }),
      )
    } finally {
      clearTimeout(timer)
    }
  }
