// Listens on the configured address: a port, with or without TLS, or a unix socket.

import type { AnyElysia } from 'elysia'
import { messageOf, UsageError } from '../../errors'
import type { Log } from '../../log'
import { checkPort, listen, type Server } from './server'

/** Options of the daemon. */
type ListeningOptions = {
  readonly host: string
  readonly port: number
  readonly unix: string | null
  readonly unixMode: string
  readonly tlsCert: string | null
  readonly tlsKey: string | null
  readonly hsts: number | null
  readonly trustedProxies: string | null
}

/**
 * Rejects with an `OpenError` if the address cannot be bound: to be called before a database is created. A killed
 * daemon may hold the port of an existing database briefly; the start then retries.
 */
export async function checkAddress(
  { host, port, unix }: ListeningOptions,
  isNew: boolean,
): Promise<void> {
  if (unix === null) return checkPort(host, isNew ? port : 0)
  if (!isNew) return
  const { checkSocket } = await import('./unix-socket')
  await checkSocket(unix)
}

/** The certificate of the configuration; null for plain HTTP. */
export async function openTls({ tlsCert, tlsKey, hsts, unix }: ListeningOptions, log: Log) {
  if (tlsCert === null && tlsKey === null && hsts === null) return null
  if (tlsCert === null || tlsKey === null || unix !== null)
    throw new UsageError('HTTPS, and --hsts, need --tls-cert, --tls-key and no --unix')
  // Loaded only if used.
  const { readCertificate } = await import('./certificate')
  return readCertificate(tlsCert, tlsKey, log)
}

type Certificate = Awaited<ReturnType<typeof openTls>>

/** Returns the function that determines a client's address, from its peer's and `X-Forwarded-For`. */
export async function openClients({ trustedProxies }: ListeningOptions) {
  if (trustedProxies === null) return (peer: string | null): string | null => peer
  const { createTrustedProxies } = await import('./trusted-proxies')
  return createTrustedProxies(trustedProxies)
}

/** Listens on the socket or the port of the options. */
export async function openServer(
  app: AnyElysia,
  { host, port, unix, unixMode }: ListeningOptions,
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
