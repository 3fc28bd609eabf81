// Makes backups while the daemon serves, each with `plantstore backup` as a separate process, which checks and syncs its
// copy before it gets its name. The newest backup in the folder says when the next is due, even after a restart.

import { stat, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { messageOf, OpenError, UsageError } from '../errors'
import { removeLeftovers } from '../files/private-folder'
import { checkFolder } from '../files/resolve-path'
import type { Log } from '../log'
import { type Child, type ChildOptions, startChild } from './child'
import { type Backup, backupName, listBackups } from './folder'

const DAY_MS = 86_400_000
const KEEP = 7
// The clock may be changed meanwhile; and no timer can exceed 2^31 ms.
const LONGEST_WAIT_MS = 60_000
const RETRY_MS = 3_600_000
// NAME_MAX of Linux's file systems.
const LONGEST_NAME_BYTES = 255

/** Times are in milliseconds; null: the default. */
type Plan = {
  readonly database: string
  readonly backupFolder: string | null
  readonly backupEvery: number | null
  readonly backupKeep: number | null
}

/**
 * Plans the backups of a database. Throws a `UsageError` without a folder, and an `OpenError` if it cannot be written.
 */
export function scheduleBackups(
  plan: Plan,
  log: Log,
  now: () => number,
  childOptions: ChildOptions = {},
) {
  if (plan.backupFolder === null) {
    throw new UsageError('--backup-every and --backup-keep need --backup-folder')
  }
  const folder = resolve(plan.backupFolder)
  const database = resolve(plan.database)
  const every = plan.backupEvery ?? DAY_MS
  const keep = plan.backupKeep ?? KEEP
  checkFolder(folder)
  if (Buffer.byteLength(backupName(database, now())) > LONGEST_NAME_BYTES) {
    throw new OpenError(
      `the name of the database is too long for backups, whose names add 20 bytes to it; at most ${LONGEST_NAME_BYTES} in all`,
    )
  }

  const stats = { lastAt: 0, lastBytes: 0, failures: 0 }
  let child: Child | undefined
  let timer: Timer | undefined
  let isStopped = false
  let hasFuture = false

  /** The backups, the newest first, without those from the future: they were named while the clock was wrong. */
  async function listPast(): Promise<readonly Backup[]> {
    const all = await listBackups(folder, database)
    const past = all.filter(({ at }) => at <= now())
    const count = all.length - past.length
    if (count > 0 && !hasFuture) log('warn', 'backups-from-future', { count, newest: all[0]?.path })
    hasFuture = count > 0
    return past
  }

  async function removeOld(made: string): Promise<void> {
    for (const { path } of (await listPast()).slice(keep)) {
      if (path !== made) await unlink(path)
    }
  }

  async function backUp(): Promise<void> {
    const at = Math.floor(now() / 1000) * 1000
    const path = join(folder, backupName(database, at))
    const started = performance.now()
    // On a disk that hangs, a process may outlive SIGKILL.
    if (child) throw new Error(`the process of an earlier backup does not end: ${child.pid}`)
    child = startChild(['backup', path, '--database', database], childOptions)
    const ended = child.exited.then(() => {
      child = undefined
    })
    const problem = await child.problem
    if (isStopped) return
    if (problem) ended.then(() => removeLeftovers(folder))
    else await ended
    if (problem) throw new Error(problem)
    const { size } = await stat(path)
    stats.lastAt = at
    stats.lastBytes = size
    log('info', 'backup-made', {
      file: path,
      bytes: size,
      ms: Math.round(performance.now() - started),
    })
    await removeOld(path).catch((error) =>
      log('warn', 'old-backup-not-removed', { detail: messageOf(error) }),
    )
  }

  /** Makes a backup if one is due; returns the milliseconds until it has to look again. */
  async function backUpIfDue(): Promise<number> {
    const [newest] = await listPast()
    const wait = newest ? newest.at + every - now() : 0
    if (wait > 0) return Math.min(wait, LONGEST_WAIT_MS)
    if (!isStopped) await backUp()
    return 0
  }

  async function look(): Promise<void> {
    let wait: number
    try {
      wait = await backUpIfDue()
    } catch (error) {
      if (isStopped) return
      stats.failures += 1
      wait = Math.min(every, RETRY_MS)
      log('error', 'backup-failed', { detail: messageOf(error), retrySeconds: wait / 1000 })
    }
    if (!isStopped) timer = setTimeout(look, wait)
  }

  /** The last backup before the start counts, so that an alert on its age survives a restart. */
  async function begin(): Promise<void> {
    const [newest] = await listPast().catch(() => [])
    if (newest) {
      stats.lastAt = newest.at
      stats.lastBytes = await stat(newest.path).then(
        ({ size }) => size,
        () => 0,
      )
    }
    await look()
  }

  return {
    stats,
    start(): void {
      removeLeftovers(folder)
      begin()
    },
    /** Ends a backup in progress, and removes what it has written. */
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      if (!child) return
      await child.kill()
      await removeLeftovers(folder)
    },
  }
}
