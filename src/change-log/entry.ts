// The entries of the change log, and their cursors; for every engine. The life of an entry:
// - add: the commit of a change adds its entry, so that neither exists without the other (sqlite/reading/change-log.ts,
// postgres/sql/change-log.ts).
// - watch: listeners are notified of new entries (watch.ts).
// - read: pages of entries after a cursor, or of the history of one plant before a cursor.
// - remove: entries older than the retention period are removed, oldest first (retention.ts). Their cursors expire.

import { ApiError } from '../errors'
import type { Origin } from '../plant/plants'
import { fieldsOf, type PlantRecord, type PlantRow, type RowId, toRow } from '../plant/row'
import { type Action, type ChangeLogEntry, type ChangeLogPage, CURSOR, NOW } from './change-log'

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
}

export const ENTRY_COLUMNS = 'number, at, action, plant, before, after, token, address, request'

const toJson = (row: PlantRow | null): string | null => row && JSON.stringify(fieldsOf(row))
const fromJson = (text: string | null) => (text === null ? null : JSON.parse(text))

/** The values of an entry from `action` on. */
export type EntryTexts = readonly [
  action: Action,
  before: string | null,
  after: string | null,
  token: string | null,
  address: string | null,
  request: string | null,
]

export const entryTexts = ({ action, before, after, origin }: NewEntry): EntryTexts => [
  action,
  toJson(before),
  toJson(after),
  origin?.token ?? null,
  origin?.address ?? null,
  origin?.request ?? null,
]

/** A change log and the numbers of its oldest and its last entry. If it is empty, `first` is `last` + 1. */
export type ChangeLogState = {
  readonly name: string
  readonly first: number
  readonly last: number
}

/**
 * The name of the change log, null if there is none, and the numbers of its entries; `first` is null if it is empty.
 */
export type ChangeLogRow = {
  readonly log: string | null
  readonly first: bigint | null
  readonly last: bigint
}

/** The state of the change log in a row; 40403 if there is none. */
export function toChangeLogState(row: ChangeLogRow | null | undefined): ChangeLogState {
  if (!row || row.log === null) throw new ApiError(40403)
  const last = Number(row.last)
  return { name: row.log, first: row.first === null ? last + 1 : Number(row.first), last }
}

/** Maximum number of entries per read, which blocks the event loop for a few milliseconds. */
export const MAX_ENTRIES = 500

/** A random name for a new change log. */
export const newChangeLogName = (): string => crypto.randomUUID().replaceAll('-', '').slice(16)

const toCursor = (changeLog: string, number: number | bigint): string => `${changeLog}-${number}`

/** The number in a cursor; 40002, or 41001 if it belongs to another change log or is beyond the end of this one. */
function numberOf(cursor: string, { name, last }: ChangeLogState, orElse = ''): number {
  const [, changeLog, digits] = CURSOR.exec(cursor) ?? []
  if (digits === undefined) throw new ApiError(40002, `after: expected a cursor${orElse}`)
  const number = Number(digits)
  if (changeLog !== name || number > last) throw expired(name, last)
  return number
}

const expired = (changeLog: string, last: number) =>
  new ApiError(
    41001,
    `this cursor has expired; list the plants again, then follow from ${toCursor(changeLog, last)}`,
  )

/** The number after which a read starts. */
export function placeOf(after: string | undefined, state: ChangeLogState): number {
  const { name, first, last } = state
  if (after === undefined) return first - 1
  if (after === NOW) return last
  const number = numberOf(after, state, ', or "now"')
  if (number < first - 1) throw expired(name, last)
  return number
}

/** The number before which a page of a history ends. Entries removed meanwhile leave no gap. */
export const endOf = (after: string | undefined, state: ChangeLogState): number =>
  after === undefined ? state.last + 1 : numberOf(after, state)

export const toChangeLogEntry = (changeLog: string, row: EntryRow): ChangeLogEntry => ({
  cursor: toCursor(changeLog, row.number),
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
 * The page of the rows found after a number. 41001 if there is a gap: the entries in between were removed meanwhile.
 */
export function pageAfter(
  place: number,
  rows: readonly EntryRow[],
  { name, last }: ChangeLogState,
  after: string | undefined,
): ChangeLogPage {
  const end = rows.at(-1)?.number ?? place
  if (after !== undefined && Number(end) !== place + rows.length) throw expired(name, last)
  return { entries: rows.map((row) => toChangeLogEntry(name, row)), next: toCursor(name, end) }
}

/** The size of the plant fields of an entry, in characters. */
export const entryLength = ({ before, after }: EntryRow): number =>
  (before?.length ?? 0) + (after?.length ?? 0)

/** The number of the last entry; and the smallest, the greatest and the count of the numbers found. */
export type FoundNumbers = {
  readonly last: bigint
  readonly first: bigint | null
  readonly top: bigint | null
  readonly count: bigint
}

/** True if the numbers of a change log are gapless up to the last. */
export const isWhole = (it: FoundNumbers): boolean =>
  it.first === null ||
  it.top === null ||
  (it.top === it.last && it.top - it.first + 1n === it.count)

export const LACKS_ENTRIES = 'the change log lacks entries'

/** An entry, and the stored plant; a name of null: there is none. */
export type Link = Pick<EntryRow, 'number' | 'plant' | 'before' | 'after'> &
  Omit<PlantRecord, 'id' | 'name'> & { readonly name: string | null }

/**
 * Checks all entries, ordered by plant and number: each starts from the state that the previous entry of its plant
 * left.
 */
export function createLinkCheck() {
  let last: Link | undefined

  function* end(): Generator<string> {
    if (!last) return
    const { plant, name, after } = last
    const stored = toJson(name === null ? null : toRow({ ...last, id: plant, name }))
    if (stored !== after) yield `plant ${plant} differs from its last entry in the change log`
  }

  return {
    end,
    *see(link: Link): Generator<string> {
      if (last?.plant !== link.plant) yield* end()
      else if (last.after !== link.before) {
        yield `change ${link.number} of plant ${link.plant} does not follow from the one before it`
      }
      last = link
    },
  }
}
