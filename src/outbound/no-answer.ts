// Explains why a request had no answer, and suggests a fix.

import { codeOf } from '../errors'

/** A request without an answer. */
type FailedRequest = {
  readonly url: URL
  readonly unix: string | undefined
  /** True if the environment names a proxy that may have received the request. */
  readonly mayUseProxy: boolean
  readonly target: string
  readonly seconds: number
}

const NO_LISTENER = ['ConnectionRefused', 'ECONNREFUSED', 'ENOENT']
// OpenSSL's codes of refused certificates, as Bun names them.
const CERTIFICATE = /CERT|SIGNATURE/
function explain(error: unknown, { url, unix, target, seconds }: FailedRequest): string {
  const { origin, hostname } = url
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

/** One line about a request without an answer. It shows only the origin of the URL: the path may be a secret. */
export function explainNoAnswer(error: unknown, request: FailedRequest): string {
  const hint = `; a proxy is set: check HTTP_PROXY and HTTPS_PROXY, or add ${request.url.hostname} to NO_PROXY`
  return explain(error, request) + (request.mayUseProxy ? hint : '')
}
