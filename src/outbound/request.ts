// The one way in which this program sends requests: with proxies, certificates, a time limit, and an explained failure.

import { OpenError } from '../errors'
import { explainNoAnswer } from './no-answer'
import { type Proxies, proxyFor } from './proxies'

type SendOptions = Omit<BunFetchRequestInit, 'proxy' | 'tls'> & {
  /** The kind of server, for messages. */
  readonly target: 'daemon' | 'receiver'
  /** Time limit of the answer; of a stream, until it begins. */
  readonly seconds: number
  /** True if the caller reads the body as it arrives. */
  readonly isStream?: boolean
  /** For requests to this machine: no proxy, and a certificate for any name. */
  readonly isLocal?: boolean
}

/** Sends a request. Throws an {@link OpenError} if there is no answer, or the signal's reason. */
export type SendRequest = (to: string | URL, options: SendOptions) => Promise<Response>

const PROXY_REFUSES = 407

async function whole(answer: Response): Promise<Response> {
  const { status, statusText, headers } = answer
  const bytes = await answer.arrayBuffer()
  return new Response(bytes.byteLength === 0 ? null : bytes, { status, statusText, headers })
}

/** An error like that of a proxy that refuses a tunnel. */
async function refusalOf({ status, body }: Response): Promise<Error> {
  await body?.cancel()
  return Object.assign(new Error('the proxy refused'), { status })
}

/** The credentials in the headers of a request. */
function secretsIn(headers: SendOptions['headers']): string[] {
  const authorization = new Headers(headers).get('authorization')
  return authorization === null ? [] : [authorization.slice(authorization.indexOf(' ') + 1)]
}

/** Returns the function that sends every request. */
export const createSendRequest =
  (proxies: Proxies): SendRequest =>
  async (to, { target, seconds, isStream = false, isLocal = false, signal, ...init }) => {
    const url = new URL(to)
    const isDirect = isLocal || init.unix !== undefined
    const late = new AbortController()
    const timer = setTimeout(
      () => late.abort(new DOMException('late', 'TimeoutError')),
      seconds * 1000,
    )
    let proxy: URL | null = null
    try {
      proxy = isDirect ? null : await proxyFor(url, proxies)
      const answer = await fetch(url, {
        ...init,
        proxy: proxy === null ? false : { url: proxy, respectNoProxy: false },
        // Explicit, so that no variable disables it.
        tls: { rejectUnauthorized: !isLocal },
        signal: signal ? AbortSignal.any([late.signal, signal]) : late.signal,
      })
      if (proxy !== null && answer.status === PROXY_REFUSES) throw await refusalOf(answer)
      return isStream ? answer : await whole(answer)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof OpenError) throw error
      const secrets = secretsIn(init.headers)
      const unanswered = { url, unix: init.unix, proxy, target, seconds, secrets }
      throw new OpenError(await explainNoAnswer(error, unanswered))
    } finally {
      clearTimeout(timer)
    }
  }
