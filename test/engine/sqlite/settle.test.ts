import { expect, test } from 'bun:test'
import { netEffect } from '../../../src/engine/commit/kinds'
import { DONE, type Outcome, type Write } from '../../../src/engine/commit/write'
import type { PlantRow } from '../../../src/plant/row'

const asked = { precondition: null, origin: null }
const create = (row: PlantRow): Write => ({ kind: 'create', row, origin: null })

const effect = (...all: [Write, Outcome][]) =>
  Object.fromEntries(
    netEffect(
      all.map(([write]) => write),
      all.map(([, outcome]) => outcome),
    ),
  )

test('the net effect is the last row of each plant that a batch changed', () => {
  expect(
    effect(
      [create([1, 'a', null]), DONE],
      [
        { kind: 'change', action: 'replace', id: 1, patch: { name: 'b', tag: 't' }, ...asked },
        { row: [1, 'b', 't'] },
      ],
      [
        {
          kind: 'createAll',
          rows: [
            [2, 'c', null],
            ['9007199254740993', 'd', null],
          ],
          origin: null,
        },
        DONE,
      ],
      [
        {
          kind: 'changeAll',
          rows: [
            [2, { name: 'c', tag: null }, null],
            [5, { name: 'f', tag: 't' }, null],
          ],
          action: 'replace',
          origin: null,
        },
        { created: 1, writtenRows: [[5, 'f', 't']], conflicts: [], missing: [] },
      ],
      [
        {
          kind: 'deleteAll',
          rows: [
            [6, 'g', null],
            [7, 'h', null],
          ],
          origin: null,
        },
        { deleted: [6], conflicts: [7], missing: [] },
      ],
      [{ kind: 'delete', id: 3, ...asked }, DONE],
      [
        { kind: 'change', action: 'patch', id: 4, patch: { tag: null }, ...asked },
        { row: [4, 'e', null] },
      ],
      [{ kind: 'probe' }, DONE],
      [{ kind: 'recordUse', hash: 'a hash', hour: 3_600_000 }, DONE],
    ),
  ).toEqual({
    1: [1, 'b', 't'],
    2: [2, 'c', null],
    '9007199254740993': ['9007199254740993', 'd', null],
    3: null,
    4: [4, 'e', null],
    5: [5, 'f', 't'],
    6: null,
  })
})

test('the net effect leaves out refused changes', () => {
  expect(
    effect(
      [create([1, 'a', null]), { error: 'taken' }],
      [{ kind: 'delete', id: 2, ...asked }, { error: 'no such plant' }],
      [
        {
          kind: 'change',
          action: 'patch',
          id: 4,
          patch: { name: 'd' },
          precondition: { ifMatch: '*' },
          origin: null,
        },
        { error: 'precondition failed' },
      ],
      [create([3, 'c', null]), DONE],
      [{ kind: 'delete', id: 3, ...asked }, DONE],
    ),
  ).toEqual({ 3: null })
})
