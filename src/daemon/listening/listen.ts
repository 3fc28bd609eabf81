// Listens on the configured address: a port, with or without TLS, or a unix socket.

import type { AnyElysia } from 'elysia'
import type { Config } from '../../config/config'
import { messageOf, UsageError } from '../../errors'
import type { Log } from '../../log'
import { checkPort, listen, type Server } from './server'

/** Rejects with an `OpenError` if the address cannot be bound: to be called before a database is created. */
export async function checkAddress({ host, port, unix }: Config): Promise<void> {
  if (unix === null) return checkPort(host, port)
  const { checkSocket } = await import('./unix-socket')
  await checkSocket(unix)
}

/** The certificate of the configuration; null for plain HTTP. */
export async function openTls({ tlsCert, tlsKey, hsts, unix }: Config, log: Log) {
  if (tlsCert === null && tlsKey === null && hsts === null) return null
  if (tlsCert === null || tlsKey === null || unix !== null)
    throw new UsageError('HTTPS, and --hsts, need --tls-cert, --tls-key and no --unix')
  // Loaded only if used.
  const { readCertificate } = await import('./certificate')
  return readCertificate(tlsCert, tlsKey, log)
}

type Certificate = Awaited<ReturnType<typeof openTls>>

/** Returns the function that determines a client's address, from its peer's and `X-Forwarded-For`. */
export async function openClients({ trustedProxies }: Config) {
  if (trustedProxies === null) return (peer: string | null): string | null => peer
  const { createTrustedProxies } = await import('./trusted-proxies')
  return createTrustedProxies(trustedProxies)
}

/** Listens on the socket or the port of the options. */
export async function openServer(
  app: AnyElysia,
  { host, port, unix, unixMode }: Config,
  log: Log,
  certificate: Certificate,
): Promise<Server> {
  if (unix === null) return listen(app, { host, port }, log, certificate)
  const { listenAtPath } = await import('./unix-socket')
  const { listener, removeSocket } = await listenAtPath(
    unix,
    Number.parseInt(unixMode, 8),
    (path) => listen(app, { unix: path }, log),
  )
  const drain: Server['drain'] = async (milliseconds) => {
    await removeSocket().catch((error) =>
      log('warn', 'socket-not-removed', { detail: messageOf(error) }),
    )
    await listener.drain(milliseconds)
  }
  return { ...listener, drain }
}
