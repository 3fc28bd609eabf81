// A certificate for TLS and its private key, read from files and checked.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { OpenError } from '../../errors'
import { readText } from '../../files/input'
import type { Log } from '../../log'

function parse<T>(file: string, what: string, parseFile: (text: string) => T) {
  const text = readText(file)
  try {
    return [text, parseFile(text)] as const
  } catch {
    throw new OpenError(`${file} does not contain ${what} in PEM`)
  }
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** The first certificate of a chain. Throws if any certificate is damaged. */
function parseChain(text: string): X509Certificate {
  for (const certificate of text.match(PEM_CERTIFICATE) ?? []) new X509Certificate(certificate)
  return new X509Certificate(text)
}

/**
 * Reads a certificate chain and the key of its first certificate (PEM). `expiresAt`: milliseconds since 1970. Throws an
 * {@link OpenError} if they are unusable.
 */
export function readCertificate(certFile: string, keyFile: string, log: Log) {
  const [cert, leaf] = parse(certFile, 'valid certificates', parseChain)
  const [key, privateKey] = parse(keyFile, 'a private key without a passphrase', createPrivateKey)
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new OpenError(`the key ${keyFile} does not match the certificate ${certFile}`)
  }
  const expires = leaf.validToDate
  if (expires.getTime() < Date.now()) {
    log('warn', 'certificate-expired', { file: certFile, expired: expires.toISOString() })
  }
  return { cert, key, expiresAt: expires.getTime() }
}
