// plantstore serve: runs the daemon, from its first line to its exit code.

import { readFileSync } from 'node:fs'
import packageJson from '../../../package.json'
import { announce } from '../../daemon/announce'
import { createLogWriter } from '../../daemon/log-writer'
import { shutDown, watchSignals } from '../../daemon/shutdown'
import { SERVER_BACKUPS, worksOnFiles } from '../../engine/database-url'
import { engineOf, openStore } from '../../engine/engine'
import { daemon } from '../../engine/role'
import { IN_DOUBT, messageOf, UsageError } from '../../errors'
import { createApp } from '../../http/app'
import { createCors } from '../../http/cors'
import { checkAddress, listen, type Server } from '../../http/server'
import { createLog, formatEvent, type Log } from '../../log'
import { createMetrics } from '../../metrics'
import { localAddress, localHost, unmapped } from '../../sockets/address'
import { watchOpenFiles } from '../../sockets/open-files'
import type { Store } from '../../store'
import type { Token } from '../../token'
import { loadPages } from '../../web/built'
import type { Command } from '../command'
import type { Config } from '../config'
import { watchToken } from '../configured-token'
import { daemonOptions } from '../options'
import { isNullDevice } from '../terminal/output'

const STDOUT = 1
const STDERR = 2
// How long a stop waits for a store that is still being opened. Nothing was acknowledged yet.
const OPENED_WITHIN_MS = 500
// How long writing the last lines of the log may take.
const LAST_LINES_MS = 500

/** The certificate of the configuration, and the port that servers with newer ones take over; null: plain HTTP. */
async function openTls({ tlsCert, tlsKey, hsts, unix }: Config, log: Log) {
  if (tlsCert === null && hsts !== null) throw new UsageError('--hsts needs --tls-cert')
  if (tlsCert === null && tlsKey === null) return null
  if (tlsCert === null || tlsKey === null) {
    throw new UsageError('--tls-cert and --tls-key need each other')
  }
  if (unix !== null) throw new UsageError('--tls-cert needs a port: leave --unix out')
  // Loaded only if it is used.
  const { watchCertificate } = await import('../../sockets/certificate')
  const { createSharedPort } = await import('../../sockets/shared-port')
  return { ...watchCertificate(tlsCert, tlsKey, log), sharedPort: createSharedPort() }
}

/** Warns if the token of the configuration is one of the store: then its scope, its expiry and its revocation do not count. */
async function warnOfStoredToken(store: Store, configured: Token | null, log: Log): Promise<void> {
  const stored = configured && (await store.findToken(configured.hash).catch(() => null))
  if (stored) log('warn', 'token-also-stored', { token: stored.name, source: configured.name })
}

/** The schedule of backups; null: none are made. */
async function openBackups(config: Config, log: Log) {
  const { backupFolder, backupEvery, backupKeep } = config
  if (backupFolder === null && backupEvery === null && backupKeep === null) return null
  if (!engineOf(config.database).backup) throw worksOnFiles('--backup-folder', SERVER_BACKUPS)
  return (await import('../../backups/schedule')).scheduleBackups(config, log, Date.now)
}

type OpenedTls = Awaited<ReturnType<typeof openTls>>

/** Returns the function that finds a client's address, from its peer's and `X-Forwarded-For`. */
async function openClients({ trustedProxies }: Config) {
  if (trustedProxies === null) return (peer: string | null): string | null => peer
  const { createTrustedProxies } = await import('../../sockets/trusted-proxies')
  return createTrustedProxies(trustedProxies)
}

/** Listens where the configuration says. */
async function open(
  app: ReturnType<typeof createApp>,
  { host, port, unix, unixMode }: Config,
  log: Log,
  tls: OpenedTls,
): Promise<Server> {
  if (unix === null) {
    const pair = tls && { pair: tls.current(), sharedPort: tls.sharedPort }
    return listen(app, { host, port }, log, pair)
  }
  const { listenAtPath } = await import('../../sockets/unix-socket')
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

export const serve: Command = {
  name: 'serve',
  usage: '',
  summary: 'serve plants over HTTP',
  help: `The first start prints a token and a curl command that creates a plant.

SIGTERM and SIGINT stop it: it answers the requests in flight and closes the database. A second signal ends it at once. SIGHUP rereads PLANTSTORE_TOKEN_FILE and the certificate.

Exit codes: 0 stopped; 1 cannot start; 2 wrong usage; 74 the disk failed, or the stop took too long; 130 or 143 ended by a second SIGINT or SIGTERM. After 74, 130 or 143, ${IN_DOUBT}.`,
  options: daemonOptions,
  async run({ config, passedOver, err }) {
    const format = err.isTTY ? 'text' : 'json'
    const lines = createLogWriter(STDERR, (count) =>
      formatEvent(format, Date.now(), 'warn', 'log-dropped', { lines: count }),
    )
    const out = createLogWriter(STDOUT, () => '')
    const log = createLog(lines.write, format, Date.now, config.logLevel)
    for (const variable of passedOver) log('info', 'variable-passed-over', { variable })
    const { version } = packageJson
    const token = watchToken(config, (path) => readFileSync(path, 'utf8'), log)
    const { name, files, isNew } = engineOf(config.database).locate(config.database)
    // A daemon that was just killed may still have the port of a database that is there: it is waited for.
    if (config.unix === null) checkAddress(config.host, isNew ? config.port : 0)
    const tls = await openTls(config, log)
    const backups = await openBackups(config, log)
    const findClient = await openClients(config)
    const cors = config.corsOrigin === null ? null : createCors(config.corsOrigin)
    const metrics = createMetrics({
      version,
      droppedLogLines: lines.dropped,
      backups: backups?.stats ?? null,
      certificateExpiry: tls && (() => tls.current().expiresAt),
    })
    const signals = watchSignals(() => {
      token.reload()
      tls?.reload((certificate) => server?.renew(certificate))
    })
    const { host, logRequests, maxBodyBytes, rateLimit, stopSeconds } = config
    const stop = new AbortController()
    const role = daemon(log, metrics.committed, config.keepChanges, stop.signal)
    const opening = openStore(config.database, role, config)
    let server: Server | undefined
    const drain = async (milliseconds: number) => server?.drain(milliseconds)

    async function start(): Promise<void> {
      const store = await opening
      await warnOfStoredToken(store, token.current(), log)
      const countFiles = await watchOpenFiles(log)
      if (stop.signal.aborted) return
      const app = createApp({
        store,
        metrics,
        log,
        now: Date.now,
        configuredToken: token.current,
        maxBodyBytes,
        logRequests,
        rateLimit,
        countFiles,
        cors,
        hsts: config.hsts,
        loadPages: config.console ? loadPages : null,
        clientOf: (request) => {
          const peer = server?.peerOf(request) ?? null
          return findClient(peer && unmapped(peer), request.headers.get('x-forwarded-for'))
        },
        timeOut: (request, seconds) => server?.timeOut(request, seconds),
        stopping: stop.signal,
      })
      server = await open(app, config, log, tls)
      backups?.start()
      await announce(
        store,
        {
          version,
          at: localAddress({ ...config, port: server.port ?? config.port }),
          host,
          database: name,
          hasConsole: config.console,
          isTerminal: err.isTTY,
          isNew,
          passwordFile: files.length > 0 ? null : config.databasePasswordFile,
          hasToken: token.current() !== null,
          isDiscarded: isNullDevice(STDOUT),
          needsTrust: tls?.current().needsTrustAt(localHost(host)) ?? false,
        },
        out,
        log,
      )
    }

    try {
      const started = start()
      // The daemon can be stopped even if the disk hangs at the start.
      const signal = await Promise.race([started.then(() => signals.first), signals.first])
      log('info', 'stopping', { signal })
      stop.abort()
      const ended = backups?.stop()
      const opened = Promise.race([
        opening.catch(() => null),
        Bun.sleep(OPENED_WITHIN_MS).then(() => null),
      ])
      const code = await shutDown({
        drain,
        close: async () => {
          await ended
          await (await opened)?.close()
        },
        second: signals.second,
        milliseconds: stopSeconds * 1000,
        log,
      })
      await lines.flush(LAST_LINES_MS)
      return code
    } catch (error) {
      // It may have begun to listen.
      stop.abort()
      await drain(0)
      await backups?.stop()
      const store = await opening.catch(() => null)
      await store?.close()
      throw error
    }
  },
}
