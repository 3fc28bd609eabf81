import { expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { type Change, netEffect, type Row, type RowId } from '../src/engine/change'
import { decide } from '../src/engine/decide'
import { prepareChanges } from '../src/engine/sqlite/apply-change'
import { connect } from '../src/engine/sqlite/connection'
import { migrate } from '../src/engine/sqlite/migrations'
import { entityTagOf } from '../src/entity-tag'
import { PATIENCE_MS } from './harness/daemon'
import { temporaryFolder } from './harness/folder'

setDefaultTimeout(PATIENCE_MS)

// Few ids and fields, so that changes meet one another.
const id = fc.constantFrom<RowId>(1, 2, 3, '-9007199254740993')
const name = fc.constantFrom('a', 'b', '')
const tag = fc.constantFrom(null, 'x', '')
const row: fc.Arbitrary<Row> = fc.tuple(id, name, tag)
const entityTag = fc.oneof(
  row.map(([id, name, tag]) => [entityTagOf({ id, name, tag })]),
  fc.constant<'*'>('*'),
)
const precondition = fc.record({ ifMatch: entityTag, ifNoneMatch: entityTag }, { requiredKeys: [] })
const patch = fc.record({ name, tag }, { requiredKeys: [] })
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(fc.constant('create' as const), row),
  fc.tuple(fc.constant('createAll' as const), fc.array(row, { maxLength: 4 })),
  fc.tuple(fc.constant('replace' as const), row),
  fc.tuple(fc.constant('replace' as const), row, precondition),
  fc.tuple(fc.constant('patch' as const), id, patch),
  fc.tuple(fc.constant('patch' as const), id, patch, precondition),
  fc.tuple(fc.constant('delete' as const), id),
  fc.tuple(fc.constant('delete' as const), id, precondition),
  fc.constant<Change>(['probe']),
)

test('decides changes as SQLite carries them out, and writes what is new of them', () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.db')
  writeFileSync(path, '')
  const db = connect(path)
  migrate(db)
  const apply = prepareChanges(db)
  const stored = () =>
    new Map(
      db
        .query<{ id: bigint; name: string; tag: string | null }, []>('SELECT * FROM plants')
        .all()
        .map(({ id, name, tag }): [RowId, Row] => {
          const rowId = Number.isSafeInteger(Number(id)) ? Number(id) : String(id)
          return [rowId, [rowId, name, tag]]
        }),
    )

  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 4 }),
      fc.array(change, { maxLength: 12 }),
      (rows, changes) => {
        db.run('BEGIN')
        for (const it of rows) apply(['create', it])
        const before = stored()

        const decided = decide(changes, before)

        expect(decided.outcomes).toEqual(changes.map(apply))
        const after = new Map(before)
        for (const it of decided.inserted) {
          expect(before.has(it[0])).toBeFalse()
          after.set(it[0], it)
        }
        for (const it of decided.updated) {
          expect(before.get(it[0])).not.toEqual(it)
          expect(before.has(it[0])).toBeTrue()
          after.set(it[0], it)
        }
        for (const it of decided.deleted) expect(after.delete(it)).toBeTrue()
        expect(after).toEqual(stored())
        db.run('ROLLBACK')
        // What is written is no more than what the outcomes say.
        const net = netEffect(changes, decided.outcomes)
        for (const [written] of [...decided.inserted, ...decided.updated])
          expect(net.has(written)).toBeTrue()
      },
    ),
    { numRuns: 500 },
  )
  db.close(true)
})
