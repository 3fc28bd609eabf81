// The daemon: assembles its parts, serves until a signal, and stops in order.

import { localAddress, toPlainAddress } from '../address'
import type { Config } from '../config/config'
import { watchToken } from '../config/configured-token'
import { SERVER_BACKUPS, worksOnFiles } from '../engine/database-url'
import { engineOf, openStore } from '../engine/engine'
import { storeOwner, storeReader } from '../engine/store-user'
import { UsageError } from '../errors'
import { exitAtOnce } from '../files/libc'
import { isReadByOthers } from '../files/resolve-path'
import { createApp } from '../http/app'
import { createCors } from '../http/cors'
import { createLog, formatEvent, type Log } from '../log'
import { createMetrics } from '../metrics'
import { compileEagerly, EXIT_CODES, type StopSignal } from '../program'
import type { Store } from '../store'
import type { Token } from '../token/token'
import { loadPages } from '../web/built'
import { announce, type StartOptions } from './announce'
import { checkAddress, openClients, openServer, openTls } from './listening/listen'
import type { Server } from './listening/server'
import { createLogWriter } from './log-writer'
import { shutDown, watchSignals } from './shutdown'
import { requireWritableFolders } from './writable-folders'

const STDOUT = 1
const STDERR = 2
// Time limit for writing the last lines of the log.
const LAST_LINES_MS = 500

/** The log on standard error, which never waits for its reader. */
function openLog({ config, logsToTerminal }: StartOptions) {
  const { logFormat } = config
  const autoFormat = logsToTerminal ? 'text' : 'json'
  const format = logFormat === 'auto' ? autoFormat : logFormat
  const lines = createLogWriter(STDERR, (count) =>
    formatEvent(format, Date.now(), 'warn', 'log-dropped', { lines: count }),
  )
  return { lines, log: createLog(lines.write, format, Date.now, config.logLevel) }
}

/** The schedule of backups; null if there are none. */
async function openBackups(config: Config, log: Log) {
  const { backupFolder, backupEvery, backupKeep } = config
  if (backupFolder === null && backupEvery === null && backupKeep === null) return null
  if (!engineOf(config.database).backup) throw worksOnFiles('--backup-folder', SERVER_BACKUPS)
  const { BackupSchedule } = await import('./backups/schedule')
  return new BackupSchedule(config, log, Date.now)
}

/**
 * Warns if the token of the configuration is stored too, as its stored scope, expiry and revocation are then ignored; and
 * of files with secrets that every user can read. Not an error: Kubernetes mounts them so.
 */
async function warnOfSecrets(store: Store, config: Config, token: Token | null, log: Log) {
  const stored = token && (await store.findToken(token.hash).catch(() => null))
  if (stored) log('warn', 'token-also-stored', { token: stored.name, source: token.name })
  for (const file of [config.tokenFile, config.databasePasswordFile]) {
    if (file !== null && isReadByOthers(file)) log('warn', 'secret-readable', { file })
  }
}

/** The policy of a daemon towards its store. */
function storeUserOf({ config, log, lines, metrics }: Parts, stopping: AbortSignal) {
  const { readOnly, primaryUrl, keepChanges } = config
  if (readOnly) return storeReader({ primaryUrl, log, stopping })
  const endAtOnce = async () => {
    await lines.flush(LAST_LINES_MS)
    exitAtOnce(EXIT_CODES.storage)
  }
  return storeOwner(log, metrics.countCommit, keepChanges, stopping, endAtOnce)
}

function checkReadOnly({ readOnly, primaryUrl, keepChanges }: Config): void {
  if (readOnly ? keepChanges !== null : primaryUrl !== null)
    throw new UsageError('--primary-url needs --read-only, which allows no --keep-changes')
}

/** Prepares everything but the store and the server, and refuses an invalid configuration. */
async function prepare(startOptions: StartOptions) {
  const { config, unknownVariables } = startOptions
  const { lines, log } = openLog(startOptions)
  checkReadOnly(config)
  requireWritableFolders(config)
  for (const detail of unknownVariables) log('warn', 'variable-unknown', { detail })
  const token = watchToken(config, log)
  const place = engineOf(config.database).locate(config.database)
  const tls = await openTls(config, log)
  const backups = await openBackups(config, log)
  const metrics = createMetrics()
  const findClient = await openClients(config)
  const cors = config.corsOrigin === null ? null : createCors(config.corsOrigin)
  // Last, so that a wrong option is reported even if the port is in use.
  if (place.isNew) await checkAddress(config)
  return { ...startOptions, lines, log, token, place, tls, backups, metrics, findClient, cors }
}

type Parts = Awaited<ReturnType<typeof prepare>>

class Daemon {
  readonly #parts: Parts
  readonly #stop = new AbortController()
  readonly #opening: Promise<Store>
  #server: Server | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    const { config } = parts
    const storeUser = storeUserOf(parts, this.#stop.signal)
    this.#opening = openStore(config.database, storeUser, config)
  }

  /** Starts serving, and announces it. Rejects if the store cannot be opened, or the address cannot be bound. */
  async start(): Promise<void> {
    const { config, log, token, tls, backups } = this.#parts
    const store = await this.#opening
    await warnOfSecrets(store, config, token.current(), log)
    if (this.#stop.signal.aborted) return
    this.#server = await openServer(this.#app(store), config, log, tls)
    backups?.start()
    const address = localAddress({ ...config, port: this.#server.port ?? config.port })
    const needsToken = token.current() === null && !config.readOnly
    const out = createLogWriter(STDOUT, () => '')
    await announce(store, { ...this.#parts, address, needsToken }, out, log)
    compileEagerly()
  }

  /** Answers the requests in flight, commits them, and closes the store. Resolves to the exit code. */
  async stop(second: Promise<StopSignal>): Promise<number> {
    const { config, log, lines } = this.#parts
    const close = (drainMs: number) => this.close(drainMs)
    const code = await shutDown({ close, second, milliseconds: config.stopSeconds * 1000, log })
    await lines.flush(LAST_LINES_MS)
    return code
  }

  /** Releases everything that was opened. Requests in flight have this many milliseconds. */
  async close(drainMs: number): Promise<void> {
    this.#stop.abort()
    await this.#server?.drain(drainMs)
    await this.#parts.backups?.stop()
    const store = await this.#opening.catch(() => null)
    await store?.close()
  }

  #app(store: Store) {
    const { config, log, token, place, tls, backups, metrics, findClient, cors } = this.#parts
    return createApp({
      ...config,
      store,
      metrics,
      service: {
        engine: engineOf(config.database).name,
        database: place.baseName,
        lastBackupAt: () => backups?.lastAt ?? null,
        certificateExpiry: tls?.expiresAt ?? null,
        primaryUrl: config.primaryUrl,
      },
      log,
      now: Date.now,
      configuredToken: token.current,
      cors,
      loadPages: config.console ? loadPages : null,
      clientOf: (request) => {
        const peer = this.#server?.peerOf(request) ?? null
        return findClient(peer && toPlainAddress(peer), request.headers.get('x-forwarded-for'))
      },
      timeOut: (request, seconds) => this.#server?.timeOut(request, seconds),
      stopping: this.#stop.signal,
    })
  }
}

/** Runs the daemon until a signal stops it. Resolves to the exit code; rejects if it cannot start. */
export async function runDaemon(startOptions: StartOptions): Promise<number> {
  const parts = await prepare(startOptions)
  // Before the store is opened: a signal may arrive while the disk hangs.
  const signals = watchSignals(parts.token.reload)
  const daemon = new Daemon(parts)
  try {
    const running = daemon.start()
    const signal = await Promise.race([running.then(() => signals.first), signals.first])
    parts.log('info', 'stopping', { signal })
    return await daemon.stop(signals.second)
  } catch (error) {
    await daemon.close(0)
    throw error
  }
}
