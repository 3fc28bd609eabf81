// The one way in which this program asks others: through which proxy, whose certificates, how long, and why there is no answer.

import { OpenError } from '../errors'
import { explainNoAnswer } from './no-answer'
import { type Proxies, proxyFor } from './proxies'

export type SendOptions = Omit<BunFetchRequestInit, 'proxy' | 'tls'> & {
  /** Who is asked, for a message. */
  readonly whom: 'daemon' | 'receiver'
  /** How long the answer may take; if it is a stream, until it begins. */
  readonly seconds: number
  /** True if the body is read by the caller, as it comes. */
  readonly isStream?: boolean
  /** Asks this machine, whatever its address: no proxy, and a certificate for any name. Nothing secret may be sent. */
  readonly isLocal?: boolean
}

/** Sends a request. Throws an {@link OpenError} that says why there is no answer, or what `signal` was aborted with. */
export type SendRequest = (to: string | URL, options: SendOptions) => Promise<Response>

const PROXY_REFUSES = 407

async function whole(answer: Response): Promise<Response> {
  const { status, statusText, headers } = answer
  const bytes = await answer.arrayBuffer()
  return new Response(bytes.byteLength === 0 ? null : bytes, { status, statusText, headers })
}

/** An error like that of a proxy which refuses a tunnel. */
async function refusalOf({ status, body }: Response): Promise<Error> {
  await body?.cancel()
  return Object.assign(new Error('the proxy refused'), { status })
}

/** The credentials in the headers of a request. */
function secretsIn(headers: SendOptions['headers']): string[] {
  const authorization = new Headers(headers).get('authorization')
  return authorization === null ? [] : [authorization.slice(authorization.indexOf(' ') + 1)]
}

/** Makes the function that sends every request. */
export const createSendRequest =
  (proxies: Proxies): SendRequest =>
  async (to, { whom, seconds, isStream = false, isLocal = false, signal, ...init }) => {
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
        // Said here, so that no variable turns it off.
        tls: { rejectUnauthorized: !isLocal },
        signal: signal ? AbortSignal.any([late.signal, signal]) : late.signal,
      })
      if (proxy !== null && answer.status === PROXY_REFUSES) throw await refusalOf(answer)
      return isStream ? answer : await whole(answer)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof OpenError) throw error
      const secrets = secretsIn(init.headers)
      const asked = { url, unix: init.unix, proxy, whom, seconds, secrets }
      throw new OpenError(await explainNoAnswer(error, asked))
    } finally {
      clearTimeout(timer)
    }
  }
