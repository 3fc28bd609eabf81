// Explains why a request had no answer, and suggests a fix.

import { codeOf, safeMessage } from '../errors'

/** A request without an answer. */
type Unanswered = {
  readonly url: URL
  readonly unix: string | undefined
  readonly proxy: URL | null
  readonly target: string
  readonly seconds: number
  /** Secrets that no message may show, besides all parts of the URLs but their origins. */
  readonly secrets: readonly string[]
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

// The address without user and password.
const addressOf = ({ protocol, host }: URL): string => `${protocol}//${host}`

const NO_HTTP = 'malformed HTTP'
const DAMAGED = 'its compressed answer is damaged'
const BAD_REDIRECT = 'it redirects to an invalid URL'

// Texts for the codes of Bun's errors, whose messages show the whole URL.
const REASONS: Readonly<Record<string, string>> = {
  Malformed_HTTP_Response: NO_HTTP,
  InvalidHTTPResponse: NO_HTTP,
  InvalidContentLength: NO_HTTP,
  UnsupportedTransferEncoding: NO_HTTP,
  UnrequestedUpgrade: NO_HTTP,
  ZlibError: DAMAGED,
  BrotliDecompressionError: DAMAGED,
  ZstdDecompressionError: DAMAGED,
  RedirectURLInvalid: BAD_REDIRECT,
  UnsupportedRedirectProtocol: BAD_REDIRECT,
  TooManyRedirects: 'it redirects too often',
  ECONNRESET: 'it closed the connection',
  EPROTO: 'the TLS handshake failed',
  ECONNREFUSED: 'nothing is listening there',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'the connection timed out',
  EAI_AGAIN: 'no name server answers',
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The parts of a URL that may be secret, also decoded. */
const secretsOf = ({ href, pathname, search, username, password }: URL): string[] =>
  [href, pathname + search, pathname, search.slice(1), username, password].flatMap((part) => [
    part,
    decode(part),
  ])

function reasonOf(error: unknown, { url, proxy, secrets }: Unanswered): string {
  const reason = REASONS[codeOf(error)]
  if (reason !== undefined) return reason
  const ofProxy = proxy === null ? [] : secretsOf(proxy)
  return safeMessage(error, [...secrets, ...secretsOf(url), ...ofProxy])
}

/** The same address under the other scheme. Its port is explicit, as the default would differ. */
function otherScheme({ protocol, hostname, port }: URL): URL {
  return protocol === 'https:'
    ? new URL(`http://${hostname}:${port || 443}`)
    : new URL(`https://${hostname}:${port || 80}`)
}

/** True if a server answers at a URL. Sends no secret, and trusts any certificate. */
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

async function explainProxy(error: unknown, proxy: URL, request: Unanswered): Promise<string> {
  const reasons: Readonly<Record<string, string>> = {
    ENOTFOUND: `cannot resolve host ${proxy.hostname}`,
    UnsupportedProxyProtocol: 'only http:// and https:// proxies are supported',
  }
  const { status } = (error ?? {}) as Partial<Response>
  // The proxy's own message may repeat the URL.
  const { STATUS_CODES } = await import('node:http')
  const answered = status ? `${status} ${STATUS_CODES[status] ?? ''}`.trim() : ''
  const reason = answered || reasons[codeOf(error)] || reasonOf(error, request)
  return `the proxy at ${addressOf(proxy)} refused: ${reason}; to bypass it, add ${request.url.hostname} to NO_PROXY`
}

/** The reason that a certificate was refused; null if it was not. */
function explainCertificate(code: string, { origin, hostname }: URL): string | null {
  if (UNKNOWN_CA.includes(code)) {
    return `the certificate of ${origin} is signed by an unknown CA; to trust it, set NODE_EXTRA_CA_CERTS to the file of the CA's certificate (PEM)`
  }
  if (code === 'CERT_HAS_EXPIRED') return `the certificate of ${origin} has expired`
  if (code === 'CERT_NOT_YET_VALID') return `the certificate of ${origin} is not valid yet`
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return null
  return `the certificate of ${origin} is for another name than ${hostname}`
}

/** One line about a request without an answer. Of URLs, it shows only the origin: the path may be a secret. */
export async function explainNoAnswer(error: unknown, request: Unanswered): Promise<string> {
  const { url, unix, proxy, target, seconds } = request
  const at = unix ?? url.origin
  if (error instanceof Error && error.name === 'TimeoutError') {
    const by = proxy === null ? '' : ` through the proxy at ${addressOf(proxy)}`
    return `no answer from ${at}${by} within ${seconds} s`
  }
  const code = codeOf(error)
  const isTls = url.protocol === 'https:'
  const certificate = explainCertificate(code, proxy === null || isTls ? url : proxy)
  if (certificate !== null) return certificate
  if (proxy !== null) return explainProxy(error, proxy, request)
  if (NO_LISTENER.includes(code)) return `nothing is listening at ${at}; is the ${target} running?`
  if (code === 'ENOTFOUND') return `cannot resolve host ${url.hostname}`
  const other = otherScheme(url)
  if (unix === undefined && ['ECONNRESET', 'EPROTO'].includes(code) && (await answers(other))) {
    return `${url.host} speaks ${isTls ? 'plain HTTP' : 'HTTPS'}; use ${other.protocol}//${url.host}`
  }
  return `no answer from ${at}: ${reasonOf(error, request)}`
}
