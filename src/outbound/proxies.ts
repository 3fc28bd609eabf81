// Selects the proxy of a request.

import { OpenError } from '../errors'

/** The proxies of the environment; an empty text for none. */
export type Proxies = {
  /** For `http:` and for `https:` URLs. */
  readonly http: string
  readonly https: string
  /** The exceptions: NO_PROXY. */
  readonly except: string
}

const LOOPBACK =
  /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f\w\w:\w+\])$/

const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '')

/** True for a loopback URL in any spelling: `URL` normalizes numbers such as `127.1`. */
export const isLoopback = (url: URL): boolean => LOOPBACK.test(hostOf(url))

async function isInRange(host: string, range: string): Promise<boolean> {
  const { BlockList, isIP } = await import('node:net')
  const address = host.replace(/^\[|\]$/g, '')
  const [net = '', bits] = range.split('/')
  const family = isIP(net) === 6 ? 'ipv6' : 'ipv4'
  if (!isIP(net) || isIP(net) !== isIP(address)) return false
  const ranges = new BlockList()
  try {
    ranges.addSubnet(net, Number(bits), family)
  } catch {
    // A range such as /33.
    return false
  }
  return ranges.check(address, family)
}

/**
 * True if NO_PROXY matches a URL's host: `*`, a name with its subdomains, an address or a range; each also with a port.
 */
async function isExcepted(url: URL, except: string): Promise<boolean> {
  const host = hostOf(url)
  const bare = host.replace(/^\[|\]$/g, '')
  const port = url.port || (url.protocol === 'https:' ? 443 : 80)
  const names = [host, bare, `${host}:${port}`]
  for (const entry of except.toLowerCase().split(/[\s,]+/)) {
    const name = entry.replace(/^\*?\./, '')
    if (!name) continue
    if (name === '*' || names.some((it) => it === name || it.endsWith(`.${name}`))) return true
    if (name.includes('/') && (await isInRange(host, name))) return true
  }
  return false
}

/**
 * The proxy of a request for a URL; null for none, and for this machine. Throws an {@link OpenError} if it is not a
 * URL.
 */
export async function proxyFor(url: URL, proxies: Proxies): Promise<URL | null> {
  const text = url.protocol === 'https:' ? proxies.https : proxies.http
  if (!text || isLoopback(url) || (await isExcepted(url, proxies.except))) return null
  const proxy = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (proxy) return proxy
  // The value is not shown, as it may contain a password.
  throw new OpenError(
    'the proxy of the environment is not a URL; see HTTP_PROXY, HTTPS_PROXY and ALL_PROXY',
  )
}
