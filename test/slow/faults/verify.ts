// Compares a database with the responses to its clients.
import { Database } from 'bun:sqlite'
import { copyFileSync, existsSync } from 'node:fs'
import { temporaryFolder } from '../../harness/folder.ts'
import type { StoredPlant } from '../../harness/plants.ts'
import { type Daemon, serve } from './daemon.ts'
import type { Report } from './fault.ts'
import { type Ledger, plantOf, recovers, settle, tally } from './load.ts'

export interface Verdict {
  /** Acknowledged, but not in the database. */
  lost: number
  /** Stored with other fields than acknowledged. */
  altered: number
  /** Refused with an error, but stored. */
  returned: number
  /** Stored, but never sent. */
  strange: number
  integrity: string
}

/**
 * Compares every field of every plant with the responses to its clients. It reads a copy, so that
 * the daemon recovers the file itself. No daemon may be running.
 */
export function verify(database: string, ledger: Ledger): Verdict {
  using folder = temporaryFolder()
  const copy = folder.file('copy.db')
  for (const suffix of ['', '-wal', '-journal']) {
    if (existsSync(database + suffix)) copyFileSync(database + suffix, copy + suffix)
  }
  const rows = new Map<bigint, StoredPlant>()
  let integrity = 'ok'
  try {
    const db = new Database(copy, { readwrite: true, safeIntegers: true })
    try {
      integrity = db
        .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
        .all()
        .map((row) => row.integrity_check)
        .join('; ')
      for (const row of db.query<StoredPlant, []>('SELECT id, name, tag FROM plants').all()) {
        rows.set(row.id, row)
      }
      if (integrity === 'ok') integrity = compareLog(db, rows)
    } finally {
      db.close()
    }
  } catch (error) {
    integrity = `${error}`
  }
  return { ...judge(rows, ledger), integrity }
}

/**
 * True if the change log, if one is kept from the beginning, makes the plants that are stored: "ok", or what is wrong.
 */
function compareLog(db: Database, rows: ReadonlyMap<bigint, StoredPlant>): string {
  const isKept =
    db.query(`SELECT 1 FROM sqlite_schema WHERE name = 'change_log'`).get() !== null &&
    db.query('SELECT 1 FROM change_log WHERE log IS NOT NULL').get() !== null
  if (!isKept) return 'ok'
  const made = new Map<bigint, string>()
  let last = 0n
  const entries = db.query<{ number: bigint; plant: bigint; after: string | null }, []>(
    'SELECT number, plant, after FROM changes ORDER BY number',
  )
  for (const { number, plant, after } of entries.iterate()) {
    if (number !== last + 1n) return `entry ${number} of the change log comes after ${last}`
    last = number
    if (after === null) made.delete(plant)
    else made.set(plant, after)
  }
  for (const { id, name, tag } of rows.values()) {
    const after = JSON.parse(made.get(id) ?? '{}')
    if (after.name !== name || (after.tag ?? null) !== tag)
      return `the change log lacks plant ${id}`
  }
  return made.size === rows.size ? 'ok' : 'the change log has plants that are not stored'
}

/** Compares all plants, by their ids, with the responses. */
export function judge(rows: ReadonlyMap<bigint, StoredPlant>, ledger: Ledger): Verdict {
  const verdict: Verdict = { lost: 0, altered: 0, returned: 0, strange: 0, integrity: 'ok' }
  let known = 0
  for (const [n, { fate }] of ledger) {
    const plant = plantOf(n)
    const row = rows.get(plant.id)
    if (row !== undefined) known++
    if (row === undefined) {
      if (fate === 'stored') verdict.lost++
    } else if (fate === 'refused') verdict.returned++
    else if (row.name !== plant.name || row.tag !== (plant.tag ?? null)) verdict.altered++
  }
  verdict.strange = rows.size - known
  return verdict
}

/** The problems, in words. */
export function faultsOf(verdict: Verdict): string[] {
  const problems: string[] = []
  const { lost, altered, returned, strange, integrity } = verdict
  if (lost > 0) problems.push(`${lost} acknowledged plants lost`)
  if (altered > 0) problems.push(`${altered} plants altered`)
  if (returned > 0) problems.push(`${returned} refused plants stored`)
  if (strange > 0) problems.push(`${strange} plants that nobody sent`)
  if (integrity !== 'ok') problems.push(`integrity: ${integrity.slice(0, 200)}`)
  return problems
}

/** Stops a daemon, and compares its database with the responses. */
export async function endWell(
  daemon: Daemon,
  database: string,
  ledger: Ledger,
  report: Report,
): Promise<void> {
  await stopWell(daemon, report)
  const verdict = verify(database, ledger)
  report.note(...faultsOf(verdict))
  const { stored, refused, unknown } = tally(ledger)
  report.counts.push(
    `${stored} acknowledged, ${refused} refused, ${unknown} unanswered`,
    `${verdict.lost} lost, ${verdict.returned} refused but stored`,
  )
}

/** Stops a daemon by SIGTERM, which must end it with 0. */
export async function stopWell(daemon: Daemon, report: Report): Promise<void> {
  report.expect((await daemon.stop()) === 0, 'a bad exit code after SIGTERM')
}

/** Starts a daemon on what a fault has left, sends again what had no answer, and ends it well. */
export async function startAgain(database: string, ledger: Ledger, report: Report): Promise<void> {
  const daemon = await serve(database)
  await settle(daemon, ledger)
  report.expect(await recovers(daemon, ledger, 5000), 'no creates after a restart')
  await endWell(daemon, database, ledger, report)
}
