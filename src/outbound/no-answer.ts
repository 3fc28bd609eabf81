// Why a request had no answer, in words that say what to do.

import { codeOf, messageOf } from '../errors'

export type Asked = {
  readonly url: URL
  readonly unix: string | undefined
  readonly proxy: URL | null
  readonly whom: string
  readonly seconds: number
}

const PROBE_MS = 2000
const NO_LISTENER = ['ConnectionRefused', 'ECONNREFUSED', 'ENOENT']
const UNKNOWN_CA = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

// Without its user and password.
const addressOf = ({ protocol, host }: URL): string => `${protocol}//${host}`

// Bun's own errors end with advice for programmers.
const withoutAdvice = (error: unknown): string =>
  messageOf(error).replace(/ For more information, pass .*/, '')

/** The same place under the other scheme. Its port is written out, or it would be another one. */
function otherScheme({ protocol, hostname, port }: URL): URL {
  return protocol === 'https:'
    ? new URL(`http://${hostname}:${port || 443}`)
    : new URL(`https://${hostname}:${port || 80}`)
}

/** True if anything answers at a URL. Sends no secret, and trusts any certificate. */
async function answers(url: URL): Promise<boolean> {
  try {
    const answer = await fetch(url, {
      method: 'HEAD',
      proxy: false,
      redirect: 'manual',
      tls: { rejectUnauthorized: false },
      signal: AbortSignal.timeout(PROBE_MS),
    })
    return answer.status > 0
  } catch {
    return false
  }
}

function explainProxy(error: unknown, proxy: URL, { hostname }: URL): string {
  const reasons: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'nothing is listening there',
    ECONNRESET: 'it closed the connection',
    ENOTFOUND: `cannot resolve host ${proxy.hostname}`,
    UnsupportedProxyProtocol: 'only http:// and https:// proxies are supported',
  }
  const { status, statusText } = (error ?? {}) as Partial<Response>
  const answered = status ? `${status} ${statusText ?? ''}`.trim() : ''
  const reason = answered || reasons[codeOf(error)] || withoutAdvice(error)
  return `the proxy at ${addressOf(proxy)} refused: ${reason}; to do without it, add ${hostname} to NO_PROXY`
}

/** Why a certificate was refused; null: it was not. */
function explainCertificate(code: string, { origin, hostname }: URL): string | null {
  if (UNKNOWN_CA.includes(code)) {
    return `the certificate of ${origin} is signed by an unknown CA; to trust it, set NODE_EXTRA_CA_CERTS to the file of the CA's certificate (PEM)`
  }
  if (code === 'CERT_HAS_EXPIRED') return `the certificate of ${origin} has expired`
  if (code === 'CERT_NOT_YET_VALID') return `the certificate of ${origin} is not valid yet`
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return null
  return `the certificate of ${origin} is for another name than ${hostname}`
}

/** One line about a request that had no answer. Names only the URL's origin: its path may be a secret. */
export async function explainNoAnswer(
  error: unknown,
  { url, unix, proxy, whom, seconds }: Asked,
): Promise<string> {
  const at = unix ?? url.origin
  if (error instanceof Error && error.name === 'TimeoutError') {
    const by = proxy === null ? '' : ` through the proxy at ${addressOf(proxy)}`
    return `no answer from ${at}${by} within ${seconds} s`
  }
  const code = codeOf(error)
  const certificate = explainCertificate(code, url)
  if (certificate !== null) return certificate
  if (proxy !== null) return explainProxy(error, proxy, url)
  if (NO_LISTENER.includes(code)) return `nothing is listening at ${at}; is the ${whom} running?`
  if (code === 'ENOTFOUND') return `cannot resolve host ${url.hostname}`
  const isTls = url.protocol === 'https:'
  const other = otherScheme(url)
  if (unix === undefined && ['ECONNRESET', 'EPROTO'].includes(code) && (await answers(other))) {
    return `${url.host} speaks ${isTls ? 'plain HTTP' : 'HTTPS'}; use ${other.protocol}//${url.host}`
  }
  return `no answer from ${at}: ${withoutAdvice(error)}`
}
