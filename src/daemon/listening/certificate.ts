// A certificate for TLS and its private key, read from files and checked.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { OpenError } from '../../errors'
import { readText } from '../../files/input'
import type { Log } from '../../log'

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** The first certificate of a chain; null if any certificate is damaged, or the key is not its own. */
function parsePair(cert: string, key: string): X509Certificate | null {
  try {
    for (const certificate of cert.match(PEM_CERTIFICATE) ?? []) new X509Certificate(certificate)
    const leaf = new X509Certificate(cert)
    return leaf.checkPrivateKey(createPrivateKey(key)) ? leaf : null
  } catch {
    return null
  }
}

/**
 * Reads a certificate chain and the key of its first certificate (PEM). `expiresAt`: milliseconds since 1970. Throws an
 * {@link OpenError} if they are unusable.
 */
export function readCertificate(certFile: string, keyFile: string, log: Log) {
  const cert = readText(certFile)
  const key = readText(keyFile)
  const leaf = parsePair(cert, key)
  if (!leaf) {
    throw new OpenError(
      `${certFile} and ${keyFile} must be a certificate chain and its private key, in PEM and without a passphrase`,
    )
  }
  const expires = leaf.validToDate
  if (expires.getTime() < Date.now()) {
    log('warn', 'certificate-expired', { file: certFile, expired: expires.toISOString() })
  }
  return { cert, key, expiresAt: expires.getTime() }
}
