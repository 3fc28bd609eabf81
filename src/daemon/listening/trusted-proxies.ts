// Determines the address of a client behind the proxies in `--trusted-proxies`.

import { BlockList, isIP } from 'node:net'
import { toPlainAddress } from '../../address'
import { UsageError } from '../../errors'

const CIDR = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6')

function parse(text: string): BlockList {
  const ranges = new BlockList()
  for (const cidr of text.split(',').map((range) => range.trim())) {
    const [, address = '', length] = CIDR.exec(cidr) ?? []
    const family = familyOf(address)
    try {
      if (length === undefined) ranges.addAddress(address, family)
      else ranges.addSubnet(address, Number(length), family)
    } catch {
      throw new UsageError(
        `--trusted-proxies takes addresses and CIDRs, such as 127.0.0.1,10.0.0.0/8; not "${cidr}"`,
      )
    }
  }
  return ranges
}

/** The address in an entry, without the port that some proxies add; undefined if there is none. */
function toAddress(entry: string): string | undefined {
  const [, host] = /^\[([^\]]*)\](?::\d+)?$/.exec(entry) ?? /^([\d.]+):\d+$/.exec(entry) ?? []
  const address = toPlainAddress(host ?? entry)
  return isIP(address) && !address.includes('%') ? address : undefined
}

/**
 * Returns the function that determines a client's address: if the peer is trusted, the rightmost untrusted address in
 * `X-Forwarded-For`. A peer without an address, on a unix socket, is trusted. Throws a {@link UsageError} for a bad
 * list.
 */
export function createTrustedProxies(text: string) {
  const ranges = parse(text)
  const isTrusted = (address: string): boolean => {
    const plain = address.replace(/%.*$/, '')
    return ranges.check(plain, familyOf(plain))
  }

  return function findClient(peer: string | null, forwardedFor: string | null): string | null {
    let client = peer
    const entries = forwardedFor?.split(',') ?? []
    // Everything left of an untrusted or malformed address may be forged.
    while (client === null || isTrusted(client)) {
      const entry = entries.pop()
      const address = entry === undefined ? undefined : toAddress(entry.trim())
      if (address === undefined) return client
      client = address
    }
    return client
  }
}
