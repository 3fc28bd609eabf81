// The SQL that writes the change log. Its numbers have no gaps: the row of `change_log` has the last one, which each
// commit advances.

import type { Database } from 'bun:sqlite'
import { type EntryTexts, entryTexts, type NewEntry, newMark } from '../../../change-log/entry'
import { ENTRY_BYTES } from '../file/change-log-row'
import { requireOne } from '../file/own-schema'
import type { LastEntry } from '../reading/change-log'

// Minimum number of entries per removal. As many are removed as were added since the last one, so that removal keeps
// up, but at most as many as cost less than a commit of many changes.
const MIN_REMOVAL = 200
const MAX_REMOVAL = 2000

/** Writes the change log, within an open transaction. */
type ChangeLogWriter = {
  /** Adds entries, if a change log is kept, and returns the last one. */
  add(entries: readonly NewEntry[]): LastEntry | null
  /** Removes some of the entries up to a number: see `RetainedLog`. */
  remove(upTo: number): void
}

/** Prepares the statements that write the change log. */
export function prepareChangeLogWriter(db: Database): ChangeLogWriter {
  const select = db.query<{ last: bigint; keep_ms: bigint }, []>(
    'SELECT last, keep_ms FROM change_log WHERE log IS NOT NULL',
  )
  const insert = db.query<
    never,
    [number: number, at: number, mark: bigint, plant: number | bigint, ...EntryTexts]
  >(`INSERT INTO changes (number, at, mark, plant, action, before, after, token, address, request)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const advance = db.query<never, [number, number]>(
    `UPDATE change_log SET last = ?1,
       bytes = bytes + (SELECT total(${ENTRY_BYTES}) FROM changes WHERE number > ?2)`,
  )
  const oldest = db.query<{ number: bigint; at: bigint; mark: bigint; bytes: bigint }, [number]>(
    `SELECT number, at, mark, ${ENTRY_BYTES} AS bytes FROM changes ORDER BY number LIMIT ?`,
  )
  const removeUpTo = db.query<never, [bigint]>('DELETE FROM changes WHERE number <= ?')
  const shrink = db.query<never, [bigint, bigint]>(
    'UPDATE change_log SET start_mark = ?, bytes = bytes - ?',
  )
  // The last number when entries were last removed.
  let lastAtRemoval: number | undefined

  return {
    add(entries) {
      const state = entries.length > 0 ? select.get() : null
      if (!state) return null
      const lastNumber = Number(state.last)
      const at = Date.now()
      const mark = newMark()
      let number = lastNumber
      for (const entry of entries) {
        number += 1
        // A number is cheaper than a bigint.
        const plant = typeof entry.plant === 'number' ? entry.plant : BigInt(entry.plant)
        requireOne(insert.run(number, at, mark, plant, ...entryTexts(entry)))
      }
      requireOne(advance.run(number, lastNumber))
      return { number, mark: String(mark) }
    },
    remove(upTo) {
      const state = select.get()
      if (!state) return
      const last = Number(state.last)
      const now = Date.now()
      const isYoung = (at: number) => at >= now - Number(state.keep_ms) && at <= now
      const limit = Math.min(MIN_REMOVAL + last - (lastAtRemoval ?? last), MAX_REMOVAL)
      lastAtRemoval = last
      let newest: { number: bigint; mark: bigint } | undefined
      let bytes = 0n
      for (const entry of oldest.all(limit)) {
        if (Number(entry.number) > upTo || isYoung(Number(entry.at))) break
        newest = entry
        bytes += entry.bytes
      }
      if (!newest) return
      removeUpTo.run(newest.number)
      shrink.run(newest.mark, bytes)
    },
  }
}
