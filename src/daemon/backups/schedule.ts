// Makes backups while the daemon serves, each with `plantstore backup` as a separate process, which can be killed at any
// time. The newest backup in the folder determines when the next is due, even after a restart.

import { stat, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/config'
import { BACKUPS } from '../../config/options'
import { messageOf, UsageError } from '../../errors'
import { checkFolder, removeLeftovers } from '../../files/private-folder'
import type { Log } from '../../log'
import { ownProgram } from '../../program'
import { backupName, listBackups } from './folder'

const HOUR_MS = 3_600_000
// The clock may be changed in the meantime, and no timer can exceed 2^31 ms.
const MAX_WAIT_MS = 60_000
const RETRY_MS = HOUR_MS
// Time limit of a backup.
const LIMIT_MS = 6 * HOUR_MS

/** Options of the daemon. Times are in milliseconds, or null if not given. */
type BackupOptions = Pick<Config, 'database' | 'backupFolder' | 'backupEvery' | 'backupKeep'>

/** Makes a backup whenever one is due, and removes old ones. */
export class BackupSchedule {
  /** The time of the last backup in milliseconds since 1970; 0 if there is none. */
  lastAt = 0
  #child: Bun.Subprocess<'ignore', 'ignore', 'pipe'> | undefined
  #timer: Timer | undefined
  #isStopped = false
  readonly #database: string
  readonly #folder: string
  readonly #every: number

  /**
   * `program`: the command that starts this program. Throws a `UsageError` without a folder, and an `OpenError` if the
   * folder is not writable.
   */
  constructor(
    private readonly options: BackupOptions,
    private readonly log: Log,
    private readonly now: () => number,
    private readonly program = ownProgram(),
    private readonly limitMs = LIMIT_MS,
  ) {
    const { database, backupFolder, backupEvery } = options
    if (backupFolder === null)
      throw new UsageError('--backup-every and --backup-keep need --backup-folder')
    this.#database = resolve(database)
    this.#folder = resolve(backupFolder)
    this.#every = backupEvery ?? BACKUPS.hours * HOUR_MS
    checkFolder(this.#folder)
  }

  /** Cancels a backup in progress, and removes its files. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    if (!this.#child) return
    this.#child.kill('SIGKILL')
    await this.#child.exited
    await removeLeftovers(this.#folder)
  }

  /** Makes a backup whenever one is due, until {@link stop}. Never rejects. */
  async start(): Promise<void> {
    let wait: number
    try {
      wait = await this.#backUpIfDue()
    } catch (error) {
      if (this.#isStopped) return
      wait = Math.min(this.#every, RETRY_MS)
      const detail = messageOf(error)
      this.log('error', 'backup-failed', { detail, retrySeconds: wait / 1000 })
    }
    if (!this.#isStopped) this.#timer = setTimeout(() => this.start(), wait)
  }

  /** Makes a backup if one is due; resolves to the milliseconds until the next check. */
  async #backUpIfDue(): Promise<number> {
    // Read once: the clock may be set meanwhile.
    const now = this.now()
    // Of the backups made here, the newest may be lost, or from the future.
    const [newest] = await this.#listPast(now)
    this.lastAt = newest?.time ?? 0
    const wait = newest ? newest.time + this.#every - now : 0
    if (wait > 0) return Math.min(wait, MAX_WAIT_MS)
    if (!this.#isStopped) await this.#backUp()
    return 0
  }

  async #backUp(): Promise<void> {
    const path = join(this.#folder, backupName(this.#database, this.now()))
    const startedAt = performance.now()
    await this.#run(['backup', path, '--database', this.#database])
    if (this.#isStopped) return
    const { size } = await stat(path)
    const ms = Math.round(performance.now() - startedAt)
    this.log('info', 'backup-made', { file: path, bytes: size, ms })
    await this.#removeOld(path).catch((error) =>
      this.log('warn', 'old-backup-not-removed', { detail: messageOf(error) }),
    )
  }

  /** Runs this program. It inherits no environment, which may contain a token, and no signals from a terminal. */
  async #run(args: readonly string[]): Promise<void> {
    const child = Bun.spawn([...this.program, ...args], {
      env: {},
      detached: true,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
      timeout: this.limitMs,
      killSignal: 'SIGKILL',
    })
    this.#child = child
    const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()])
    this.#child = undefined
    if (this.#isStopped) return
    const detail = text.trim().replace(/^plantstore: /, '')
    if (code !== 0) {
      await removeLeftovers(this.#folder)
      const end = child.signalCode ?? `exit code ${code}`
      throw new Error(detail || `the backup process ended with ${end}`)
    }
    if (detail) this.log('warn', 'backup-differs', { detail: detail.split('\n')[0] })
  }

  async #removeOld(newestPath: string): Promise<void> {
    const past = await this.#listPast(this.now())
    // Without --backup-keep, a new backup replaces only the oldest.
    const keep = this.options.backupKeep ?? Math.max(BACKUPS.kept, past.length - 1)
    for (const { path } of past.slice(keep)) {
      if (path !== newestPath) await unlink(path)
    }
  }

  /** The backups, newest first, without those dated in the future, made while the clock was wrong. */
  async #listPast(now: number) {
    const all = await listBackups(this.#folder, this.#database)
    return all.filter(({ time }) => time <= now)
  }
}
