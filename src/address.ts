// The addresses of a daemon: those that it listens on, and the one for a client on the same machine.

// The wildcard addresses, and the addresses that a client uses instead.
const WILDCARDS = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

/** The address of the daemon for a client on the same machine. */
export type LocalAddress = {
  readonly url: string
  /** The path of the unix socket; null if there is none. */
  readonly unix: string | null
}

/** The settings that determine the address of a daemon. */
type ListenOptions = {
  readonly host: string
  readonly port: number
  readonly unix: string | null
  readonly tlsCert: string | null
}

/** The address of the daemon with a configuration, for a client on the same machine. */
export function localAddress({ host, port, unix, tlsCert }: ListenOptions): LocalAddress {
  if (unix !== null) return { url: 'http://localhost', unix }
  const scheme = tlsCert === null ? 'http' : 'https'
  const address = WILDCARDS.get(host) ?? host
  const authority = address.includes(':') ? `[${address}]` : address
  return { url: `${scheme}://${authority}:${port}`, unix }
}

/** An address; an IPv4-mapped one, as listeners on `::` see IPv4 clients, as plain IPv4 (RFC 4291, section 2.5.5.2). */
export const toPlainAddress = (address: string): string =>
  address.includes('.') ? address.replace(/^::ffff:/i, '') : address
