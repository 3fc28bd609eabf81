// Which proxy a request goes through.

import { OpenError } from '../errors'

/** The proxies of the environment; an empty text: none. */
export type Proxies = {
  /** For `http:` and for `https:` URLs. */
  readonly http: string
  readonly https: string
  /** What is asked directly: NO_PROXY. */
  readonly except: string
}

const LOOPBACK =
  /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f\w\w:\w+\])$/

const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, '')

/** True if a URL leads to this machine, however it is spelled: a `URL` has brought numbers such as `127.1` to one form. */
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
    // Such as /33.
    return false
  }
  return ranges.check(address, family)
}

/** True if NO_PROXY names a URL's host: `*`, a name with all below it, an address or a range; each also with a port. */
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

/** The proxy that a request for a URL goes through; null: none, as always for this machine. Throws an {@link OpenError} if it is not a URL. */
export async function proxyFor(url: URL, proxies: Proxies): Promise<URL | null> {
  const text = url.protocol === 'https:' ? proxies.https : proxies.http
  if (!text || isLoopback(url) || (await isExcepted(url, proxies.except))) return null
  const proxy = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (proxy) return proxy
  // It is not shown: it may have a password.
  throw new OpenError(
    'the proxy of the environment is not a URL; see HTTP_PROXY, HTTPS_PROXY and ALL_PROXY',
  )
}
