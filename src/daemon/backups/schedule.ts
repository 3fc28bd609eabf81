// Makes backups while the daemon serves, each with `plantstore backup` as a separate process. The newest backup in the
// folder determines when the next is due, even after a restart.

import { stat, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { messageOf, OpenError, UsageError } from '../../errors'
import { removeLeftovers } from '../../files/private-folder'
import { checkFolder } from '../../files/resolve-path'
import type { Log } from '../../log'
import { type Child, type ChildOptions, startChild } from './child'
import { type Backup, backupName, listBackups } from './folder'

const DAY_MS = 86_400_000
// Default number of backups kept.
const MIN_KEPT = 7
// The clock may be changed in the meantime, and no timer can exceed 2^31 ms.
const MAX_WAIT_MS = 60_000
const RETRY_MS = 3_600_000
// NAME_MAX of Linux's file systems.
const MAX_NAME_BYTES = 255

/** Options of the daemon. Times are in milliseconds; null: the default. */
type BackupOptions = {
  readonly database: string
  readonly backupFolder: string | null
  readonly backupEvery: number | null
  readonly backupKeep: number | null
}

type Plan = {
  readonly database: string
  readonly folder: string
  readonly every: number
  /** null if not given. */
  readonly keep: number | null
}

/**
 * Plans the backups of a database. Throws a `UsageError` without a folder, and an `OpenError` if the folder is not
 * writable.
 */
export function scheduleBackups(
  { database, backupFolder, backupEvery, backupKeep }: BackupOptions,
  log: Log,
  now: () => number,
  childOptions: ChildOptions = {},
): BackupSchedule {
  if (backupFolder === null) {
    throw new UsageError('--backup-every and --backup-keep need --backup-folder')
  }
  const plan = {
    database: resolve(database),
    folder: resolve(backupFolder),
    every: backupEvery ?? DAY_MS,
    keep: backupKeep,
  }
  checkFolder(plan.folder)
  if (Buffer.byteLength(backupName(plan.database, now())) > MAX_NAME_BYTES) {
    throw new OpenError(
      `the name of the database is too long for backups, whose names add 20 bytes to it; at most ${MAX_NAME_BYTES} in all`,
    )
  }
  return new BackupSchedule(plan, log, now, childOptions)
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

/** Makes a backup whenever one is due, and removes old ones. */
class BackupSchedule {
  /** Times are in milliseconds since 1970; 0 if there is no backup. */
  readonly stats = { lastAt: 0, lastBytes: 0, failures: 0 }
  #child: Child | undefined
  #timer: Timer | undefined
  #isStopped = false
  #hasFuture = false

  constructor(
    private readonly plan: Plan,
    private readonly log: Log,
    private readonly now: () => number,
    private readonly childOptions: ChildOptions,
  ) {}

  start(): void {
    removeLeftovers(this.plan.folder)
    this.#check()
  }

  /** Cancels a backup in progress, and removes its files. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    if (!this.#child) return
    await this.#child.kill()
    await removeLeftovers(this.plan.folder)
  }

  async #check(): Promise<void> {
    let wait: number
    try {
      wait = await this.#backUpIfDue()
    } catch (error) {
      if (this.#isStopped) return
      this.stats.failures += 1
      wait = Math.min(this.plan.every, RETRY_MS)
      const detail = messageOf(error)
      this.log('error', 'backup-failed', { detail, retrySeconds: wait / 1000 })
    }
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#check(), wait)
  }

  /** Makes a backup if one is due; returns the milliseconds until the next check. */
  async #backUpIfDue(): Promise<number> {
    // Read once: the clock may be set meanwhile.
    const now = this.now()
    const newest = await this.#findNewest(now)
    const wait = newest ? newest.time + this.plan.every - now : 0
    if (wait > 0) return Math.min(wait, MAX_WAIT_MS)
    if (!this.#isStopped) await this.#backUp()
    return 0
  }

  /** The newest backup in the folder, for the metrics too: of those made here, one may be lost or from the future. */
  async #findNewest(now: number): Promise<Backup | undefined> {
    const [newest] = await this.#listPast(now)
    this.stats.lastAt = newest?.time ?? 0
    this.stats.lastBytes = newest ? await sizeOf(newest.path) : 0
    return newest
  }

  async #backUp(): Promise<void> {
    const { database, folder } = this.plan
    const time = Math.floor(this.now() / 1000) * 1000
    const path = join(folder, backupName(database, time))
    const startedAt = performance.now()
    if (!(await this.#runBackup(path))) return
    const { size } = await stat(path)
    this.stats.lastAt = time
    this.stats.lastBytes = size
    const ms = Math.round(performance.now() - startedAt)
    this.log('info', 'backup-made', { file: path, bytes: size, ms })
    await this.#removeOld(path).catch((error) =>
      this.log('warn', 'old-backup-not-removed', { detail: messageOf(error) }),
    )
  }

  /**
   * Runs the command in a child process. Resolves to false if the schedule was stopped meanwhile; rejects on failure.
   */
  async #runBackup(path: string): Promise<boolean> {
    const { database, folder } = this.plan
    // If the disk hangs, a process may outlive SIGKILL.
    if (this.#child) {
      throw new Error(`the process of an earlier backup does not end: ${this.#child.pid}`)
    }
    const child = startChild(['backup', path, '--database', database], this.childOptions)
    this.#child = child
    const exit = child.exit.then(() => {
      this.#child = undefined
    })
    const { problem, warning } = await child.result
    if (this.#isStopped) return false
    if (problem) {
      exit.then(() => removeLeftovers(folder))
      throw new Error(problem)
    }
    if (warning !== '') this.log('warn', 'backup-differs', { detail: warning.split('\n')[0] })
    await exit
    return true
  }

  async #removeOld(newestPath: string): Promise<void> {
    const past = await this.#listPast(this.now())
    // Without --backup-keep, a new backup replaces only the oldest.
    const keep = this.plan.keep ?? Math.max(MIN_KEPT, past.length - 1)
    for (const { path } of past.slice(keep)) {
      if (path !== newestPath) await unlink(path)
    }
  }

  /** The backups, newest first, without those dated in the future, made while the clock was wrong. */
  async #listPast(now: number): Promise<readonly Backup[]> {
    const all = await listBackups(this.plan.folder, this.plan.database)
    const past = all.filter(({ time }) => time <= now)
    const count = all.length - past.length
    if (count > 0 && !this.#hasFuture) {
      this.log('warn', 'backups-from-future', { count, newest: all[0]?.path })
    }
    this.#hasFuture = count > 0
    return past
  }
}
