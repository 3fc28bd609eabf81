// What an entry of the log of changes is, and the cursors that name places in the log; for every engine.

import { ApiError } from '../../errors'
import type { Text } from '../../plant/plant'
import { type Action, type Change, NOW, type Origin } from '../../store'
import { fieldsOf, type Row, type RowId, toRow } from '../row'

/** An entry before it has a number. */
export type Entry = {
  readonly action: Action
  readonly plant: RowId
  readonly before: Row | null
  readonly after: Row | null
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

const toJson = (row: Row | null): string | null => row && JSON.stringify(fieldsOf(row))
const fromJson = (text: string | null) => (text === null ? null : JSON.parse(text))

/** The values of an entry from `action` on. */
export const entryTexts = ({ action, before, after, origin }: Entry) =>
  [
    action,
    toJson(before),
    toJson(after),
    origin?.token ?? null,
    origin?.address ?? null,
    origin?.request ?? null,
  ] as const

/** A log and its places: the number of the oldest entry that is kept, and of the last. None is kept: `first` is `last` + 1. */
export type LogState = { readonly log: string; readonly first: number; readonly last: number }

/** A row that says whether a log is kept, and which entries it has; `first` is null if it has none. */
export type LogRow = {
  readonly log: string | null
  readonly first: bigint | null
  readonly last: bigint
}

/** The log that a row says is kept; 40403 if none is. */
export function toLogState(row: LogRow | null | undefined): LogState {
  if (!row || row.log === null) throw new ApiError(40403)
  const last = Number(row.last)
  return { log: row.log, first: row.first === null ? last + 1 : Number(row.first), last }
}

/** The most entries of one read, which takes a few milliseconds, in which nobody else is served. */
export const MOST_ENTRIES = 500

const CURSOR = /^([0-9a-f]{16})-(\d{1,15})$/

/** A random name for a log that begins. */
export const newLogName = (): string => crypto.randomUUID().replaceAll('-', '').slice(16)

const toCursor = (log: string, number: number | bigint): string => `${log}-${number}`

/** The number that a cursor names; 40002, or 41001 if it is of another log or beyond the end of this one. */
function numberOf(cursor: string, { log, last }: LogState, orElse = ''): number {
  const [, name, digits] = CURSOR.exec(cursor) ?? []
  if (digits === undefined) throw new ApiError(40002, `after: expected a cursor${orElse}`)
  const number = Number(digits)
  if (name !== log || number > last) throw gone(log, last)
  return number
}

const gone = (log: string, last: number) =>
  new ApiError(
    41001,
    `the log of changes no longer has this place; list the plants again, then follow from ${toCursor(log, last)}`,
  )

/** The number after which a read begins. */
export function placeOf(after: string | undefined, state: LogState): number {
  const { log, first, last } = state
  if (after === undefined) return first - 1
  if (after === NOW) return last
  const number = numberOf(after, state, ', or "now"')
  if (number < first - 1) throw gone(log, last)
  return number
}

/** The number before which a page of a history ends. What was removed meanwhile is not missed. */
export const endOf = (after: string | undefined, state: LogState): number =>
  after === undefined ? state.last + 1 : numberOf(after, state)

export const toChange = (log: string, row: EntryRow): Change => ({
  cursor: toCursor(log, row.number),
  at: new Date(Number(row.at)).toISOString(),
  action: row.action,
  id: row.plant,
  before: fromJson(row.before),
  after: fromJson(row.after),
  token: row.token,
  address: row.address,
  request: row.request,
})

/** A page of the entries that were found after a place. 41001 if they do not follow it: what did was removed meanwhile. */
export function pageAfter(
  place: number,
  rows: readonly EntryRow[],
  { log, last }: LogState,
  after: string | undefined,
): { readonly changes: readonly Change[]; readonly next: string } {
  const end = rows.at(-1)?.number ?? place
  if (after !== undefined && Number(end) !== place + rows.length) throw gone(log, last)
  return { changes: rows.map((row) => toChange(log, row)), next: toCursor(log, end) }
}

/** The characters of what an entry has of a plant. */
export const entryLength = ({ before, after }: EntryRow): number =>
  (before?.length ?? 0) + (after?.length ?? 0)

/** A log is whole if its numbers have no gap up to the last. `first` and `top`: the least and the greatest that are found. */
export const isWhole = (it: {
  readonly last: bigint
  readonly first: bigint | null
  readonly top: bigint | null
  readonly count: bigint
}): boolean =>
  it.first === null ||
  it.top === null ||
  (it.top === it.last && it.top - it.first + 1n === it.count)

export const LACKS_ENTRIES = 'the log of changes lacks entries'

/** An entry, and the plant that is stored now. */
export type Link = Pick<EntryRow, 'number' | 'plant' | 'before' | 'after'> & {
  readonly [Name in Text]: string | null
}

/** Sees all entries, in the order of plants and then of numbers, and gives what is wrong with them. */
export function createLinkCheck() {
  let last: Link | undefined

  function* end(): Generator<string> {
    if (!last) return
    const { plant, name, tag } = last
    const stored = toJson(name === null ? null : toRow({ id: plant, name, tag }))
    if (stored !== last.after) yield `plant ${plant} is not as its last change left it`
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
