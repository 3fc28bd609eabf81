// Explains why a request had no answer, and suggests a fix.

import { codeOf, isUntrusted } from '../errors'

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
// Any other code is shown as it is, and never the message, which has the whole URL.
const REASONS: Readonly<Record<string, string>> = {
  ECONNRESET: 'the server closed the connection; check http:// or https://',
  EPROTO: 'the TLS handshake failed; check http:// or https://',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'the connection timed out',
  EAI_AGAIN: 'no name server answers',
}

/** The reason that a certificate was refused; null if it was not. */
function explainCertificate(error: unknown, { origin, hostname }: URL): string | null {
  const code = codeOf(error)
  if (isUntrusted(error)) {
    return `the certificate of ${origin} is signed by an unknown CA; to trust it, set NODE_EXTRA_CA_CERTS to the file of the CA's certificate (PEM)`
  }
  if (code === 'CERT_HAS_EXPIRED') return `the certificate of ${origin} has expired`
  if (code === 'CERT_NOT_YET_VALID') return `the certificate of ${origin} is not valid yet`
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return null
  return `the certificate of ${origin} is for another name than ${hostname}`
}

function explain(error: unknown, { url, unix, target, seconds }: FailedRequest): string {
  const address = unix ?? url.origin
  if (error instanceof Error && error.name === 'TimeoutError') {
    return `no answer from ${address} within ${seconds} s`
  }
  const code = codeOf(error)
  const certificate = explainCertificate(error, url)
  if (certificate !== null) return certificate
  if (NO_LISTENER.includes(code))
    return `nothing is listening at ${address}; is the ${target} running?`
  if (code === 'ENOTFOUND') return `cannot resolve host ${url.hostname}`
  return `no answer from ${address}: ${REASONS[code] ?? (code || 'unknown error')}`
}

/** One line about a request without an answer. It shows only the origin of the URL: the path may be a secret. */
export function explainNoAnswer(error: unknown, request: FailedRequest): string {
  const hint = `; a proxy is set: check HTTP_PROXY and HTTPS_PROXY, or add ${request.url.hostname} to NO_PROXY`
  return explain(error, request) + (request.mayUseProxy ? hint : '')
}
