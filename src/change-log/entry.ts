// The entries of the change log, and their cursors; for every engine. The life of an entry:
// - add: the commit of a change adds its entry, so that neither exists without the other
// (engine/sqlite/change-log.ts, engine/postgres/sql/change-log.ts).
// - watch: listeners are notified of new entries (watch.ts).
// - read: pages of entries after a cursor, or of the history of one plant before a cursor.
// - remove: entries older than the retention period are removed, oldest first (retention.ts). Their cursors expire.

import type { PlantFields } from '../plant/plant'
import type { Origin } from '../plant/plants'
import { fieldsOf, type PlantRow, type RowId } from '../plant/row'
import { RequestError } from '../request-errors'
import { type Action, type ChangeLogEntry, type ChangeLogPage, NOW, numberOf } from './change-log'

/** An entry without its number. */
export type NewEntry = {
  readonly action: Action
  readonly plant: RowId
  readonly before: PlantRow | null
  readonly after: PlantRow | null
  readonly origin: Origin | null
}

/** The columns of an entry. `before` and `after` are the fields of the plant, in JSON. */
export type EntryRow = {
  readonly number: bigint
  /** Milliseconds since 1970. */
  readonly at: bigint
  readonly action: Action
  readonly plant: bigint
  readonly before: string | null
  readonly after: string | null
  readonly token: string | null
  readonly address: string | null
  readonly request: string | null
  /** Random bits of the commit that added it. 0: an older plantstore did. */
  readonly mark: bigint
}

export const ENTRY_COLUMNS =
  'number, at, action, plant, before, after, token, address, request, mark'

/** The fields of a plant as an entry has them; null for no plant. */
const rowToJson = (row: PlantRow | null): string | null => row && JSON.stringify(fieldsOf(row))
const fromJson = (text: string | null): PlantFields | null =>
  text === null ? null : JSON.parse(text)

/** The values of an entry from `action` on. */
type EntryTexts = readonly [
  action: Action,
  before: string | null,
  after: string | null,
  token: string | null,
  address: string | null,
  request: string | null,
]

/** The values of an entry for a row, in the order of its columns. */
export const entryTexts = ({ action, before, after, origin }: NewEntry): EntryTexts => [
  action,
  rowToJson(before),
  rowToJson(after),
  origin?.token ?? null,
  origin?.address ?? null,
  origin?.request ?? null,
]

/** The random bits of a commit, as databases store them: signed. */
export const newMark = (): bigint => crypto.getRandomValues(new BigInt64Array(1))[0] ?? 0n

/** A place in a change log: after the entry with a number, and the mark of that entry. */
type Place = { readonly number: number; readonly mark: bigint }

/** A change log, and the places before its oldest and after its last entry: the same place if it is empty. */
type ChangeLogState = {
  readonly name: string
  readonly start: Place
  readonly last: Place
  /** The mark of the entry that was asked for, or null if there is none. */
  readonly mark: bigint | null
}

/** The name of the change log and its retention period in milliseconds, null if none is kept; and its places. */
export type ChangeLogRow = {
  readonly log: string | null
  readonly keep_ms: bigint | null
  /** The number of the oldest entry, or null if there is none. */
  readonly first: bigint | null
  readonly last: bigint
  /** The mark of the last entry that was removed. */
  readonly start_mark: bigint
  /** The mark of the last entry, or null if it was removed. */
  readonly last_mark: bigint | null
  /** The mark of the entry that was asked for, or null if there is none. */
  readonly mark: bigint | null
}

/** The state of the change log in a row; `no change log` if there is none. */
export function toChangeLogState(row: ChangeLogRow | null | undefined): ChangeLogState {
  if (!row || row.log === null) throw new RequestError('no change log')
  const { log: name, mark } = row
  const last = { number: Number(row.last), mark: row.last_mark ?? row.start_mark }
  const startNumber = row.first === null ? last.number : Number(row.first) - 1
  return { name, start: { number: startNumber, mark: row.start_mark }, last, mark }
}

/** Maximum number of entries per read, which blocks the event loop for some milliseconds: the longest page. */
export const MAX_ENTRIES = 1000

/** A random name for a new change log: 64 bits. */
export const newChangeLogName = (): string => crypto.randomUUID().replaceAll('-', '').slice(16)

/**
 * The cursor of a place. The cursors of a change log that got another name are all refused, whatever the marks of its
 * entries.
 */
export function toCursor(
  changeLog: string,
  { number, mark }: { readonly number: number | bigint; readonly mark: bigint },
): string {
  const bits = BigInt(`0x${changeLog}`) ^ BigInt.asUintN(64, mark)
  return `${bits.toString(16).padStart(16, '0')}-${number}`
}

function numberIn(cursor: string, expectation: string): number {
  const number = numberOf(cursor)
  if (number === null) throw new RequestError('invalid', `after: expected ${expectation}`)
  return number
}

/** The number of the entry after which a read begins; null for no cursor and {@link NOW}. `invalid`: it is malformed. */
export const numberAfter = (after: string | undefined): number | null =>
  after === undefined || after === NOW ? null : numberIn(after, 'a cursor, or "now"')

/** The number before which a page of a history ends; null for no cursor. `invalid`: it is malformed. */
export const numberBefore = (after: string | undefined): number | null =>
  after === undefined ? null : numberIn(after, 'a cursor')

const expiredError = ({ name, last }: ChangeLogState) =>
  new RequestError(
    'cursor expired',
    `this cursor has expired; list the plants again, then follow from ${toCursor(name, last)}`,
  )

/** The place after which a read begins. The state has the mark of the entry that the cursor names. */
export function placeOf(after: string | undefined, state: ChangeLogState): Place {
  const { name, start, last } = state
  const number = numberAfter(after)
  if (number === null) return after === NOW ? last : start
  const mark = number === start.number ? start.mark : state.mark
  const place = mark !== null && number <= last.number && { number, mark }
  if (!place || toCursor(name, place) !== after) throw expiredError(state)
  return place
}

/** The number before which a page of a history ends. Entries removed meanwhile are no error. */
export function endOf(after: string | undefined, state: ChangeLogState): number {
  const number = numberBefore(after)
  if (number === null) return state.last.number + 1
  if (number >= state.start.number) placeOf(after, state)
  return number
}

/** The entry of a row, with its cursor. */
export const toChangeLogEntry = (changeLog: string, row: EntryRow): ChangeLogEntry => ({
  cursor: toCursor(changeLog, row),
  at: new Date(Number(row.at)).toISOString(),
  action: row.action,
  id: row.plant,
  before: fromJson(row.before),
  after: fromJson(row.after),
  token: row.token,
  address: row.address,
  request: row.request,
})

/**
 * The page of the rows found after a number. `cursor expired` if there is a gap: the entries in between were removed
 * meanwhile.
 */
export function pageAfter(
  place: Place,
  rows: readonly EntryRow[],
  state: ChangeLogState,
  after: string | undefined,
): ChangeLogPage {
  const end = rows.at(-1) ?? place
  if (after !== undefined && Number(end.number) !== place.number + rows.length)
    throw expiredError(state)
  const { name } = state
  return { entries: rows.map((row) => toChangeLogEntry(name, row)), next: toCursor(name, end) }
}

/** The size of the plant fields of an entry, in characters. */
export const entryLength = ({ before, after }: EntryRow): number =>
  (before?.length ?? 0) + (after?.length ?? 0)
