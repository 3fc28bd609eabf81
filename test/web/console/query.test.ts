// The text of the console's search box, and its form in the URL.
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
  ] as const)('%s is parsed exactly', (text, query) => {
    expect(parseQuery(text)).toEqual(query)
  })

  test.each(['9223372036854775808', '-9223372036854775809', 'id:rose'])('%s is refused', (text) => {
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
  ])('is the same when read back from the URL', (query) => {
    expect(parseQuery(textOf(query))).toEqual(query)
  })
})

test('a plant matches as in the service: case is ignored only for A to Z', () => {
  const plant = { id: 1n, name: 'Éclair Fern', tag: 'fern' }

  expect(matches({ name: 'ECLAIR' }, plant)).toBeFalse()
  expect(matches({ name: 'CLAIR f' }, plant)).toBeTrue()
  expect(matches({ name: 'É' }, plant)).toBeTrue()
  expect(matches({ name: 'é' }, plant)).toBeFalse()
  expect(matches({ name: 'fern', tag: 'Fern' }, plant)).toBeFalse()
})

test('a search within another replaces the same parts; an id replaces all', () => {
  const before: Query = { name: 'rose', tag: 'shrub' }

  expect(refineQuery(before, { name: 'red' })).toEqual({ name: 'red', tag: 'shrub' })
  expect(refineQuery(before, { isUntagged: true })).toEqual({ name: 'rose', isUntagged: true })
  expect(refineQuery({ isUntagged: true }, { tag: 'fern' })).toEqual({ tag: 'fern' })
  expect(refineQuery(before, { id: 7n })).toEqual({ id: 7n })
  expect(refineQuery({ id: 7n }, before)).toEqual(before)
})
