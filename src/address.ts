// Where a daemon listens, and where a client on the same machine reaches it.

// The addresses that mean all interfaces, and the ones that a client uses instead.
const wildcards = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

/** True if a daemon with this `--host` listens on all interfaces. */
export const isWildcard = (host: string): boolean => wildcards.has(host)

/** Where a client on the same machine finds the daemon. */
export type LocalAddress = {
  readonly url: string
  /** The path of the unix socket to ask; null: none. */
  readonly unix: string | null
}

/** The host at which a client on the same machine reaches a daemon with this `--host`. */
export const localHost = (host: string): string => wildcards.get(host) ?? host

/** What a configuration says of where its daemon listens. */
type Listening = {
  readonly host: string
  readonly port: number
  readonly unix: string | null
  readonly tlsCert: string | null
}

/** Where a client on the same machine finds the daemon of a configuration. */
export function localAddress({ host, port, unix, tlsCert }: Listening): LocalAddress {
  if (unix !== null) return { url: 'http://localhost', unix }
  const scheme = tlsCert === null ? 'http' : 'https'
  const address = localHost(host)
  return { url: `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`, unix }
}

/** An address; an IPv4-mapped one, as a listener on `::` sees an IPv4 client, as plain IPv4 (RFC 4291, section 2.5.5.2). */
export const unmapped = (address: string): string =>
  address.includes('.') ? address.replace(/^::ffff:/i, '') : address
