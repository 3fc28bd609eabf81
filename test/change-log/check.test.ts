import { expect, test } from 'bun:test'
import {
  canAccept,
  createLinkCheck,
  describeDifferences,
  isWhole,
  type Link,
  NO_DIFFERENCES,
} from '../../src/change-log/check'
import { ofOptionalTexts } from '../../src/plant/plant'

test.each([
  ['empty', null, null, 0n, 5n, true],
  ['gapless', 3n, 5n, 3n, 5n, true],
  ['without an entry in between', 3n, 5n, 2n, 5n, false],
  ['without its last entry', 3n, 4n, 2n, 5n, false],
])(
  'distinguishes a complete change log from one that lacks entries: %s',
  (_, first, top, count, last, expected) => {
    expect(isWhole({ first, top, count, last })).toBe(expected)
  },
)

const json = (name: string) => JSON.stringify({ name })
const link = (
  number: bigint,
  plant: bigint,
  [before, after]: [string | null, string | null],
): Link => ({ number, plant, before, after, name: 'c', ...ofOptionalTexts(() => null) })

test('each plant is compared with its last entry, and each entry with the one before', () => {
  const { see, end, edits, unlogged } = createLinkCheck()
  see(link(1n, 1n, [null, json('a')]))
  see(link(4n, 1n, [json('a'), json('c')]))
  see(link(2n, 2n, [null, json('a')]))
  see(link(5n, 2n, [json('b'), json('b')]))
  see({ ...link(3n, 3n, [json('a'), null]), name: null })
  end()
  end()

  expect(edits).toEqual([{ id: 2, loggedRow: [2, 'b', null], storedRow: [2, 'c', null] }])
  expect(unlogged()).toBe(1)
})

test('ten differences are named, and the number of plants besides', () => {
  const edits = Array.from({ length: 10 }, (_, id) => ({ id, loggedRow: null, storedRow: null }))
  const differences = { ...NO_DIFFERENCES, lines: ['a line'], edits }

  const named = describeDifferences(differences, 5)
  expect(named).toHaveLength(10)
  expect(named.slice(0, 2)).toEqual([
    'a line',
    'plant 0 differs from its last entry in the change log',
  ])
  expect(describeDifferences({ ...differences, countDifference: 2 }, 5).slice(10)).toEqual([
    'the recorded number of plants is 3, but 5 are stored',
  ])
})

test('edits and a wrong number of plants can be accepted', () => {
  const edits = [{ id: 1, loggedRow: null, storedRow: null }]
  const can = [
    NO_DIFFERENCES,
    { ...NO_DIFFERENCES, edits },
    { ...NO_DIFFERENCES, countDifference: -1 },
  ]

  expect(can.map(canAccept)).toEqual([false, true, true])
})
