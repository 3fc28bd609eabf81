import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import type { NewEntry } from '../../src/change-log/entry'
import { countDelta, decide, isPlantWrite, netEffect } from '../../src/engine/commit/kinds'
import { DONE, type Write } from '../../src/engine/commit/write'
import { netOf, overlay } from '../../src/engine/postgres/sql/overlay'
import { prepareWrites } from '../../src/engine/sqlite/committing/apply-write'
import { connect } from '../../src/engine/sqlite/file/connection'
import { migrate } from '../../src/engine/sqlite/file/migrations'
import { entityTagOf } from '../../src/plant/entity-tag'
import { type PlantRecord, type PlantRow, type RowId, toPlant, toRow } from '../../src/plant/row'
import { PATIENCE_MS } from '../harness/daemon'
import { temporaryFolder } from '../harness/folder'

setDefaultTimeout(PATIENCE_MS)

// Few ids and fields, so that changes meet one another.
const id = fc.constantFrom<RowId>(1, 2, 3, '-9007199254740993')
const name = fc.constantFrom('a', 'b', '')
const tag = fc.constantFrom(null, 'x', '')
const row: fc.Arbitrary<PlantRow> = fc.tuple(id, name, tag)
const entityTag = fc.oneof(
  row.map((it) => [entityTagOf(toPlant(it))]),
  fc.constant<'*'>('*'),
)
const precondition = fc.option(
  fc.record({ ifMatch: entityTag, ifNoneMatch: entityTag }, { requiredKeys: [] }),
)
const patch = fc.record({ name, tag }, { requiredKeys: [] })
const origin = fc.constant(null)
const kind = <Kind extends Write['kind']>(name: Kind) => fc.constant(name)
const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ kind: kind('create'), row, origin }),
  fc.record({ kind: kind('createAll'), rows: fc.array(row, { maxLength: 4 }), origin }),
  fc.record({ kind: kind('putAll'), rows: fc.array(row, { maxLength: 4 }), origin }),
  fc.record({
    kind: kind('patchAll'),
    rows: fc.array(fc.tuple(id, patch, fc.option(patch)), { maxLength: 4 }),
    origin,
  }),
  fc.record({ kind: kind('deleteAll'), rows: fc.array(row, { maxLength: 4 }), origin }),
  fc.record({ kind: kind('replace'), row, precondition, origin }),
  fc.record({ kind: kind('patch'), id, patch, precondition, origin }),
  fc.record({ kind: kind('delete'), id, precondition, origin }),
  fc.record({ kind: kind('probe') }),
)

test('decides in memory as in SQLite, and writes the net of it', () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  writeFileSync(path, '')
  const db = connect(path)
  migrate(db)
  const apply = prepareWrites(db, () => {})
  const stored = () =>
    new Map(
      db
        .query<PlantRecord, []>('SELECT * FROM plants')
        .all()
        .map((it): [RowId, PlantRow] => [toRow(it)[0], toRow(it)]),
    )

  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 4 }),
      fc.array(write, { maxLength: 12 }),
      (rows, batch) => {
        db.run('BEGIN')
        for (const it of rows) apply({ kind: 'create', row: it, origin: null })
        const before = stored()

        const { state, changed } = overlay((id) => before.get(id) ?? null)
        const changeLog: NewEntry[] = []
        const outcomes = batch.map((it) => (isPlantWrite(it) ? decide(it, state, changeLog) : DONE))
        const net = netOf(changed, before)

        const entries: NewEntry[] = []
        expect(outcomes).toEqual(batch.map((it) => apply(it, entries)))
        expect(entries).toEqual(changeLog)
        const replayed = new Map(before)
        for (const entry of entries) {
          expect(replayed.get(entry.plant) ?? null).toEqual(entry.before)
          if (entry.after) replayed.set(entry.plant, entry.after)
          else replayed.delete(entry.plant)
        }
        expect(replayed).toEqual(stored())
        const after = new Map(before)
        for (const it of net.inserted) {
          expect(before.has(it[0])).toBeFalse()
          after.set(it[0], it)
        }
        for (const it of net.updated) {
          expect(before.get(it[0])).not.toEqual(it)
          expect(before.has(it[0])).toBeTrue()
          after.set(it[0], it)
        }
        for (const it of net.deleted) expect(after.delete(it)).toBeTrue()
        expect(after).toEqual(stored())
        const growths = batch.map((it, place) => countDelta(it, outcomes[place] ?? DONE))
        expect(growths.reduce((sum, growth) => sum + growth, 0)).toBe(after.size - before.size)
        db.run('ROLLBACK')
        // No row is written that the outcomes do not account for.
        const effect = netEffect(batch, outcomes)
        for (const [written] of [...net.inserted, ...net.updated])
          expect(effect.has(written)).toBeTrue()
      },
    ),
    { numRuns: 500 },
  )
  db.close(true)
})
