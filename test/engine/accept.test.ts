// How some kinds of writes are decided.
import { expect, test } from 'bun:test'
import type { NewEntry } from '../../src/change-log/entry'
import { decide, type State } from '../../src/engine/commit/kinds'
import { DONE, type PlantWrite } from '../../src/engine/commit/write'
import { overlay } from '../../src/engine/postgres/sql/overlay'
import type { PlantRow } from '../../src/plant/row'

const [old, edited, other]: PlantRow[] = [
  [1, 'old', null],
  [1, 'edited', 't'],
  [1, 'other', null],
] as const

test.each([
  ['a replacement', old, edited, edited, ['replace']],
  ['a creation', null, edited, edited, ['create']],
  ['a deletion', old, null, null, ['delete']],
  ['nothing of a plant that was changed since', old, edited, other, []],
  ['nothing of a plant that was deleted since', old, edited, null, []],
  ['nothing of a plant that was created since', old, null, other, []],
])('logs %s', (_, logged = null, stored = null, found = null, actions) => {
  const { state, changed } = overlay(() => found)
  const entries: NewEntry[] = []
  const edits = [{ id: 1, loggedRow: logged, storedRow: stored }]

  expect(decide({ kind: 'accept', edits, countDifference: 0, origin: null }, state, entries)).toBe(
    DONE,
  )

  expect<string[]>(entries.map(({ action }) => action)).toEqual(actions)
  for (const entry of entries) {
    expect(entry).toMatchObject({ plant: 1, before: logged, after: stored })
  }
  expect(changed.size).toBe(0)
})

test.each([
  ['stored already', 'old', 'is already stored, with the same fields'],
  ['taken', 'other', 'belongs to a different plant'],
] as const)(
  'a batch that is refused with "%s" names the plant and the reason',
  (error, name, why) => {
    const { state, changed } = overlay((id) => (id === 2 ? [2, 'old', null] : null))
    const rows: PlantRow[] = [
      [1, 'new', null],
      [2, name, null],
    ]

    const entries: NewEntry[] = []

    expect(decide({ kind: 'createAll', rows, origin: null }, state, entries)).toEqual({
      error,
      message: `nothing was created: plants[1], id 2 ${why}`,
    })
    expect(entries).toEqual([])
    expect(changed.size).toBe(0)
  },
)

test('a batch of deletes removes unchanged plants, and names the others', () => {
  const stored: PlantRow[] = [
    [1, 'old', null],
    [2, 'old', 't'],
  ]
  const { state, changed } = overlay((id) => stored.find((row) => row[0] === id) ?? null)
  const entries: NewEntry[] = []
  const rows = [1, 2, 3].map((id): PlantRow => [id, 'old', null])

  expect(decide({ kind: 'deleteAll', rows, origin: null }, state, entries)).toEqual({
    deleted: [1],
    conflicts: [2],
    missing: [3],
  })
  expect([...changed]).toEqual([[1, null]])
  expect(entries).toMatchObject([{ action: 'delete', plant: 1, before: stored[0], after: null }])
})

test.each<PlantWrite>([
  {
    kind: 'changeAll',
    rows: [[1, { name: 'new', tag: null }, null]],
    action: 'replace',
    origin: null,
  },
  { kind: 'changeAll', rows: [[1, { name: 'new' }, null]], action: 'patch', origin: null },
])('refuses a batch of which a trigger of another program discards a row: %j', (write) => {
  const { state } = overlay(() => null)
  const discarding: State = { ...state, insert: () => false, allOrNone: (act) => act(discarding) }
  const entries: NewEntry[] = []

  expect(decide(write, discarding, entries)).toEqual({ error: 'unexpected' })
  expect(entries).toEqual([])
})
