// A certificate for TLS and its private key, read from files and checked.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { OpenError, safeMessage } from '../../errors'
import { readText } from '../../files/input'
import type { Log } from '../../log'

const formatTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

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
 * Reads a certificate chain and the key of its first certificate (PEM). Throws an {@link OpenError} if they are
 * unusable.
 */
function readCertificate(certFile: string, keyFile: string) {
  const [cert, leaf] = parse(certFile, 'valid certificates', parseChain)
  const [key, privateKey] = parse(keyFile, 'a private key without a passphrase', createPrivateKey)
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new OpenError(`the key ${keyFile} does not match the certificate ${certFile}`)
  }
  const isSelfSigned = leaf.checkIssued(leaf)
  return {
    cert,
    key,
    /** Milliseconds since 1970. */
    expiresAt: leaf.validToDate.getTime(),
    /** True if clients of this host must be told to trust it: `curl --insecure`. */
    needsTrustAt: (host: string): boolean =>
      isSelfSigned || !(isIP(host) ? leaf.checkIP(host) : leaf.checkHost(host)),
  }
}

/** The certificate in two files, which can be reloaded. Throws an {@link OpenError} if they are unusable. */
export function watchCertificate(certFile: string, keyFile: string, log: Log) {
  const readValid = () => {
    const certificate = readCertificate(certFile, keyFile)
    const { expiresAt } = certificate
    if (expiresAt < Date.now()) {
      log('warn', 'certificate-expired', { file: certFile, expired: formatTime(expiresAt) })
    }
    return certificate
  }
  let current = readValid()
  return {
    current: () => current,
    /** Reads the files again and passes the pair to `take`. If either fails, the old pair remains. */
    reload(take: (certificate: typeof current) => void): void {
      try {
        const next = readValid()
        take(next)
        current = next
        log('info', 'certificate-read', { file: certFile, expires: formatTime(next.expiresAt) })
      } catch (error) {
        log('error', 'certificate-refused', { detail: safeMessage(error) })
      }
    },
  }
}
