import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import type { NewEntry } from '../../src/change-log/entry'
import { applyWrite, type State } from '../../src/engine/commit/kinds'
import type { ChangeAction, PlantWrite } from '../../src/engine/commit/write'
import { netOf, overlay } from '../../src/engine/postgres/sql/overlay'
import { prepareState } from '../../src/engine/sqlite/committer'
import { connect } from '../../src/engine/sqlite/connection'
import { createSchema } from '../../src/engine/sqlite/schema'
import { entityTagOf } from '../../src/plant/entity-tag'
import { type PlantRecord, type PlantRow, type RowId, toPlant, toRow } from '../../src/plant/row'
import { PATIENCE_MS } from '../harness/daemon'
import { OTHER_TEXTS } from '../harness/fields'
import { temporaryFolder } from '../harness/folder'

setDefaultTimeout(PATIENCE_MS)

// Few ids and fields, so that changes meet one another.
const id = fc.constantFrom<RowId>(1, 2, 3, '-9007199254740993')
const name = fc.constantFrom('a', 'b', '')
const tag = fc.constantFrom(null, 'x', '')
const row: fc.Arbitrary<PlantRow> = fc.tuple(id, name, tag, ...OTHER_TEXTS.map(() => tag))
const entityTag = fc.oneof(
  row.map((each) => [entityTagOf(toPlant(each))]),
  fc.constant<'*'>('*'),
)
const precondition = fc.option(
  fc.record({ ifMatch: entityTag, ifNoneMatch: entityTag }, { requiredKeys: [] }),
)
const patch = fc.record({ name, tag }, { requiredKeys: [] })
const action = fc.constantFrom<ChangeAction>('replace', 'patch')
const origin = fc.constant(null)
const kind = <Kind extends PlantWrite['kind']>(name: Kind) => fc.constant(name)
const write: fc.Arbitrary<PlantWrite> = fc.oneof(
  fc.record({ kind: kind('create'), row, origin }),
  fc.record({ kind: kind('createAll'), rows: fc.array(row, { maxLength: 4 }), origin }),
  fc.record({
    kind: kind('changeAll'),
    action,
    rows: fc.array(fc.tuple(id, patch, fc.option(patch)), { maxLength: 4 }),
    origin,
  }),
  fc.record({ kind: kind('deleteAll'), rows: fc.array(row, { maxLength: 4 }), origin }),
  fc.record({ kind: kind('change'), id, patch, action, precondition, origin }),
  fc.record({ kind: kind('delete'), id, precondition, origin }),
)

test('a batch is decided in memory as SQLite would, and its net effect is written', () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  writeFileSync(path, '')
  const db = connect(path)
  createSchema(db)
  const inFile = prepareState(db)
  const apply = (write: PlantWrite, entries?: NewEntry[]) => applyWrite(write, inFile, entries)
  const stored = () =>
    new Map(
      db
        .query<PlantRecord, []>('SELECT * FROM plants')
        .all()
        .map((plant): [RowId, PlantRow] => [toRow(plant)[0], toRow(plant)]),
    )

  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 4 }),
      fc.array(write, { maxLength: 12 }),
      (rows, batch) => {
        db.run('BEGIN')
        for (const row of rows) apply({ kind: 'create', row, origin: null })
        const before = stored()

        const { state, changed } = overlay((id) => before.get(id) ?? null)
        const changeLog: NewEntry[] = []
        const outcomes = batch.map((write) => applyWrite(write, state, changeLog))
        const net = netOf(changed, before)

        const entries: NewEntry[] = []
        expect(outcomes).toEqual(batch.map((write) => apply(write, entries)))
        expect(entries).toEqual(changeLog)
        const replayed = new Map(before)
        for (const entry of entries) {
          expect(replayed.get(entry.plant) ?? null).toEqual(entry.before)
          if (entry.after) replayed.set(entry.plant, entry.after)
          else replayed.delete(entry.plant)
        }
        expect(replayed).toEqual(stored())
        const after = new Map(before)
        for (const row of net.inserted) {
          expect(before.has(row[0])).toBeFalse()
          after.set(row[0], row)
        }
        for (const row of net.updated) {
          expect(before.get(row[0])).not.toEqual(row)
          expect(before.has(row[0])).toBeTrue()
          after.set(row[0], row)
        }
        for (const id of net.deleted) expect(after.delete(id)).toBeTrue()
        expect(after).toEqual(stored())
        db.run('ROLLBACK')
      },
    ),
    { numRuns: 500 },
  )
  db.close(true)
})

test.each([
  ['stored already', 'old', 'is already stored, with the same fields'],
  ['taken', 'other', 'belongs to a different plant'],
] as const)('the refusal "%s" of a batch names the plant and the reason', (error, name, why) => {
  const { state, changed } = overlay((id) => (id === 2 ? [2, 'old', null] : null))
  const rows: PlantRow[] = [
    [1, 'new', null],
    [2, name, null],
  ]

  const entries: NewEntry[] = []

  expect(applyWrite({ kind: 'createAll', rows, origin: null }, state, entries)).toEqual({
    error,
    message: `nothing was created: plants[1], id 2 ${why}`,
  })
  expect(entries).toEqual([])
  expect(changed.size).toBe(0)
})

test('a batch of deletes removes unchanged plants, and reports the others', () => {
  const stored: PlantRow[] = [
    [1, 'old', null],
    [2, 'old', 't'],
  ]
  const { state, changed } = overlay((id) => stored.find((row) => row[0] === id) ?? null)
  const entries: NewEntry[] = []
  const rows = [1, 2, 3].map((id): PlantRow => [id, 'old', null])

  expect(applyWrite({ kind: 'deleteAll', rows, origin: null }, state, entries)).toEqual({
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
])('a batch is refused if a trigger discards a row: %j', (write) => {
  const { state } = overlay(() => null)
  const discarding: State = {
    ...state,
    insert: () => false,
    allOrNone: (change) => change(discarding),
  }
  const entries: NewEntry[] = []

  expect(applyWrite(write, discarding, entries)).toEqual({ error: 'unexpected' })
  expect(entries).toEqual([])
})

test('a plant that differs from its guard is a conflict, even if the patch would change nothing', () => {
  const { state } = overlay(() => [1, 'Rose', 'a', ...OTHER_TEXTS.map(() => null)])
  const entries: NewEntry[] = []
  const outcome = applyWrite(
    {
      kind: 'changeAll',
      action: 'patch',
      rows: [[1, { name: 'Rose' }, { tag: 'b' }]],
      origin: null,
    },
    state,
    entries,
  )

  expect(outcome).toMatchObject({ conflicts: [1], writtenRows: [] })
  expect(entries).toEqual([])
})
