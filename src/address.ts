// Where a daemon listens, and where a client on the same machine asks it.

// The addresses that stand for all interfaces, and the one that a client uses instead.
const wildcards = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

/** Whether a daemon with this `--host` listens on all interfaces. */
export const isWildcard = (host: string): boolean => wildcards.has(host)

/** The URL of the daemon, for a client on the same machine. */
export function localUrl(host: string, port: number): string {
  const address = wildcards.get(host) ?? host
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}
