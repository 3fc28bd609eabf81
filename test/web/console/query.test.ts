// The text of the console's search box, and its form in the address.
import { describe, expect, test } from 'bun:test'
import { INT64_RULE } from '../../../src/web/console/int64'
import {
  matches,
  parseQuery,
  type Query,
  refineQuery,
  textOf,
} from '../../../src/web/console/query'

describe('a search', () => {
  test.each([
    ['', {}],
    [' -42 ', { id: -42n }],
    ['id:7', { id: 7n }],
    ['9223372036854775807', { id: 2n ** 63n - 1n }],
    ['Monstera', { name: 'Monstera' }],
    ['monstera deliciosa', { name: 'monstera deliciosa' }],
    ['tag:aroid', { tag: 'aroid' }],
    ['big tag:"bird of paradise" leaf', { name: 'big leaf', tag: 'bird of paradise' }],
    ['name:42', { name: '42' }],
    ['"42"', { name: '42' }],
    ['tag:""', { tag: '' }],
    ['no:tag rose', { name: 'rose', isUntagged: true }],
    ['tag:fern no:tag', { isUntagged: true }],
    ['no:tag tag:fern', { tag: 'fern' }],
    ['no:rose', { name: 'no:rose' }],
    ['1.5', { name: '1.5' }],
  ] as const)('%s is read exactly', (text, query) => {
    expect(parseQuery(text)).toEqual(query)
  })

  test.each(['9223372036854775808', '-9223372036854775809', 'id:rose'])('refuses %s', (text) => {
    expect(parseQuery(text)).toEqual({ problem: INT64_RULE })
  })

  test.each<Query>([
    {},
    { id: -5n },
    { name: '42' },
    { name: 'tag:x' },
    { name: 'two words', tag: 'bird of paradise' },
    { tag: '' },
    { name: 'a "quoted" \\ name', tag: '"' },
    { tag: 'two\nlines' },
    { isUntagged: true },
    { name: 'no:tag', isUntagged: true },
  ])('is the same from the address', (query) => {
    expect(parseQuery(textOf(query))).toEqual(query)
  })
})

test('a plant matches as it does for the service: the case of A to Z is ignored, of no other letter', () => {
  const plant = { id: 1n, name: 'Éclair Fern', tag: 'fern' }

  expect(matches({ name: 'ECLAIR' }, plant)).toBeFalse()
  expect(matches({ name: 'CLAIR f' }, plant)).toBeTrue()
  expect(matches({ name: 'É' }, plant)).toBeTrue()
  expect(matches({ name: 'é' }, plant)).toBeFalse()
  expect(matches({ name: 'fern', tag: 'Fern' }, plant)).toBeFalse()
})

test('a search within another one replaces the same parts, and an id all of them', () => {
  const before: Query = { name: 'rose', tag: 'shrub' }

  expect(refineQuery(before, { name: 'red' })).toEqual({ name: 'red', tag: 'shrub' })
  expect(refineQuery(before, { isUntagged: true })).toEqual({ name: 'rose', isUntagged: true })
  expect(refineQuery({ isUntagged: true }, { tag: 'fern' })).toEqual({ tag: 'fern' })
  expect(refineQuery(before, { id: 7n })).toEqual({ id: 7n })
  expect(refineQuery({ id: 7n }, before)).toEqual(before)
})
