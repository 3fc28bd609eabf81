import { expect, test } from 'bun:test'
import type { Change, Outcome } from '../../../src/engine/change'
import { netEffect } from '../../../src/engine/sqlite/settle'

const effect = (...all: [Change, Outcome][]) =>
  Object.fromEntries(
    netEffect(
      all.map(([change]) => change),
      all.map(([, outcome]) => outcome),
    ),
  )

test('is the last row of each plant that a batch changed', () => {
  expect(
    effect(
      [['create', [1, 'a', null]], null],
      [['replace', 1, null, [1, 'b', 't']], null],
      [
        [
          'createAll',
          [
            [2, 'c', null],
            ['9007199254740993', 'd', null],
          ],
        ],
        null,
      ],
      [['delete', 3, null], null],
      [['patch', 4, null, { tag: null }], { row: [4, 'e', null] }],
      [['probe'], null],
      [['use', 'a hash', 3_600_000], null],
    ),
  ).toEqual({
    1: [1, 'b', 't'],
    2: [2, 'c', null],
    '9007199254740993': ['9007199254740993', 'd', null],
    3: null,
    4: [4, 'e', null],
  })
})

test('leaves out changes that were refused', () => {
  expect(
    effect(
      [['create', [1, 'a', null]], { error: 40902 }],
      [['delete', 2, null], { error: 40402 }],
      [['patch', 4, { ifMatch: '*' }, { name: 'd' }], { error: 41201 }],
      [['create', [3, 'c', null]], null],
      [['delete', 3, null], null],
    ),
  ).toEqual({ 3: null })
})
