// Cursors: where a read of the change log begins, and which cursors are refused.
import { expect, test } from 'bun:test'
import {
  type ChangeLogRow,
  type EntryRow,
  endOf,
  entryLength,
  entryTexts,
  numberAfter,
  numberBefore,
  pageAfter,
  placeOf,
  toChangeLogEntry,
  toChangeLogState,
} from '../../src/change-log/entry'

const NAME = '0123456789abcdef'

const entry = (number: bigint, mark = number * 10n): EntryRow => ({
  number,
  at: 1000n,
  action: 'patch',
  plant: 7n,
  before: '{"name":"a"}',
  after: '{"name":"Elm"}',
  token: 'laptop',
  address: null,
  request: null,
  mark,
})
const cursorOf = (number: bigint, mark?: bigint, name = NAME): string =>
  toChangeLogEntry(name, entry(number, mark)).cursor

/** A change log with the entries 4 to 6; `mark`: that of the entry that was asked for. */
const row = (mark: bigint | null): ChangeLogRow => {
  return { log: NAME, keep_ms: 1n, first: 4n, last: 6n, start_mark: 30n, last_mark: 60n, mark }
}
const state = (mark: bigint | null = null) => toChangeLogState(row(mark))

test('an entry has the fields of its row, and a cursor with change log, mark and number', () => {
  expect(toChangeLogEntry(NAME, entry(5n, 0n))).toEqual({
    cursor: `${NAME}-5`,
    at: '1970-01-01T00:00:01.000Z',
    action: 'patch',
    id: 7n,
    before: { name: 'a' },
    after: { name: 'Elm' },
    token: 'laptop',
    address: null,
    request: null,
  })
  expect(cursorOf(5n, -1n)).toBe('fedcba9876543210-5')
  expect(cursorOf(5n, 0x0123456789abcdeen)).toBe('0000000000000001-5')
  expect(entryLength(entry(5n))).toBe(26)
  expect(entryLength({ ...entry(5n), before: null, after: null })).toBe(0)
})

test('a new entry without an author has nulls', () => {
  const after = [1, 'a', 't'] as const
  const created = { action: 'create', plant: 1, before: null, after, origin: null } as const

  const texts = ['create', null, '{"name":"a","tag":"t"}', null, null, null]
  expect<readonly unknown[]>(entryTexts(created)).toEqual(texts)
})

test.each([
  ['the oldest entry on', undefined, null, { number: 3, mark: 30n }],
  ['the end', 'now', null, { number: 6, mark: 60n }],
  ['an entry', cursorOf(5n), 50n, { number: 5, mark: 50n }],
  ['the last entry', cursorOf(6n), 60n, { number: 6, mark: 60n }],
  ['the last entry that was removed', cursorOf(3n), null, { number: 3, mark: 30n }],
])('a read begins after the place of its cursor: %s', (_, cursor, mark, place) => {
  expect(placeOf(cursor, state(mark))).toEqual(place)
})

const refused: [string, string, bigint | null][] = [
  ['another change log', cursorOf(5n, 50n, 'fedcba9876543210'), 50n],
  ['another history', cursorOf(5n, 51n), 50n],
  ['another start', cursorOf(3n, 31n), null],
  ['an entry that is gone', cursorOf(5n), null],
  ['the future', cursorOf(7n), 70n],
]

test.each(refused)('a cursor of %s has expired', (_, cursor, mark) => {
  const expired = `follow from ${cursorOf(6n)}`

  expect(() => placeOf(cursor, state(mark))).toThrow(expired)
  expect(() => endOf(cursor, state(mark))).toThrow(expired)
})

test('a removed entry has no place, but a history may end before it', () => {
  expect(() => placeOf(cursorOf(2n), state())).toThrow('expired')
  expect(endOf(cursorOf(2n), state())).toBe(2)
  expect(endOf(cursorOf(3n), state())).toBe(3)
  expect(endOf(cursorOf(5n), state(50n))).toBe(5)
  expect(endOf(undefined, state())).toBe(7)
})

test('an empty change log starts and ends at one place; one without a name is invalid', () => {
  const empty = { ...row(null), first: null, last_mark: null }
  const place = { number: 6, mark: 30n }

  expect(toChangeLogState(empty)).toEqual({ name: NAME, start: place, last: place, mark: null })
  expect(() => toChangeLogState(null)).toThrow()
  expect(() => toChangeLogState({ ...empty, log: null })).toThrow()
})

test('the refusal of a malformed cursor says what is expected', () => {
  expect([numberAfter(undefined), numberAfter('now')]).toEqual([null, null])
  expect(numberBefore(undefined)).toBeNull()
  expect(() => numberAfter('5')).toThrow('after: expected a cursor, or "now"')
  expect(() => numberBefore('now')).toThrow('after: expected a cursor')
})

test('a page has a cursor for the next page, and none if entries were removed meanwhile', () => {
  const place = { number: 4, mark: 40n }
  const page = (rows: EntryRow[], after?: string) => {
    const { entries, next } = pageAfter(place, rows, state(40n), after)
    return [...entries.map(({ cursor }) => cursor), next]
  }

  const [fifth, sixth] = [cursorOf(5n), cursorOf(6n)]
  expect(page([entry(5n), entry(6n)], cursorOf(4n))).toEqual([fifth, sixth, sixth])
  expect(page([], cursorOf(4n))).toEqual([cursorOf(4n)])
  expect(() => page([entry(6n)], cursorOf(4n))).toThrow('expired')
  expect(page([entry(6n)])).toEqual([cursorOf(6n), cursorOf(6n)])
})
