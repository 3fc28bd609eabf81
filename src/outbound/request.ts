// The one way in which this program sends requests: with proxies, certificates, a time limit, and an explained failure.

import { codeOf, OpenError } from '../errors'

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

const NO_LISTENER = ['ConnectionRefused', 'ECONNREFUSED', 'ENOENT']
// OpenSSL's codes of refused certificates, as Bun names them.
const CERTIFICATE = /CERT|SIGNATURE/

/** One line about a request without an answer. It shows only the origin of the URL: the path may be a secret. */
function explainNoAnswer(
  error: unknown,
  { origin, hostname }: URL,
  { unix, target, seconds }: Pick<SendOptions, 'unix' | 'target' | 'seconds'>,
): string {
  const address = unix ?? origin
  const code = codeOf(error)
  if (error instanceof Error && error.name === 'TimeoutError')
    return `no answer from ${address} within ${seconds} s`
  if (CERTIFICATE.test(code))
    return `the certificate of ${origin} is refused (${code}); to trust a CA, set NODE_EXTRA_CA_CERTS to the file of its certificate (PEM)`
  if (NO_LISTENER.includes(code))
    return `nothing is listening at ${address}; is the ${target} running?`
  if (code === 'ENOTFOUND') return `cannot resolve host ${hostname}`
  // Not the message, which has the whole URL.
  return `no answer from ${address}: ${code || 'unknown error'}; check http:// or https://`
}

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
  async (address, options) => {
    const { target: _, seconds, isStream = false, isLocal = false, signal, ...init } = options
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
      const hint = `; a proxy is set: check HTTP_PROXY and HTTPS_PROXY, or add ${url.hostname} to NO_PROXY`
      throw new OpenError(
        explainNoAnswer(error, url, options) + (hasProxy && !isDirect ? hint : ''),
      )
    } finally {
      clearTimeout(timer)
    }
  }
