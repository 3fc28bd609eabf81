import { expect, test } from 'bun:test'
import { type Change, netEffect, type Outcome } from '../src/engine/change'

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
      [['replace', [1, 'b', 't']], null],
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
      [['delete', 3], null],
      [['patch', 4, { tag: null }], { row: [4, 'e', null] }],
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
      [['delete', 2], { error: 40402 }],
      [['patch', 4, { name: 'd' }, { ifMatch: '*' }], { error: 41201 }],
      [['create', [3, 'c', null]], null],
      [['delete', 3], null],
    ),
  ).toEqual({ 3: null })
})
