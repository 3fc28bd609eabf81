import { expect, spyOn, test } from 'bun:test'
import { parseExactly, parseJson, readInt64 } from '../../src/plant/json'

test('parses all other values as usual beside an integer that is too large for a number', () => {
  const text = '{"a":"5","b":null,"c":true,"d":["6",7],"e":1.5,"large":9007199254740993}'

  expect(parseExactly(text)).toEqual({
    a: '5',
    b: null,
    c: true,
    d: ['6', 7],
    e: 1.5,
    large: 9007199254740993n,
  })
})

test('keeps integers that are too large for a number, where there is no fraction', () => {
  expect(parseExactly('[{"id":1},9007199254740993]')).toEqual([{ id: 1 }, 9007199254740993n])
})

test('converts ids alone', () => {
  expect(parseJson('{"id":1.0,"more":5}')).toEqual({ id: 1n, more: 5 })
})

test('accepts small ids where JSON.parse gives no source text, but none that may be rounded', () => {
  const parse = JSON.parse
  const old = spyOn(JSON, 'parse').mockImplementation((text, revive) =>
    parse(text, revive && ((key, value) => revive(key, value))),
  )
  const ids = [1, -5, 2 ** 50 - 1, -(2 ** 50) + 1, 2 ** 50, 2 ** 53 + 2, 0.5].map(
    (id) => (parseJson(`{"id":${id},"name":"1.0e0"}`) as { id: unknown }).id,
  )
  const plain = parseJson('{"plants":[{"id":1,"name":"a"},{"id":9007199254740994,"name":"b"}]}')
  old.mockRestore()

  expect(ids).toEqual([
    ...[1n, -5n, 2n ** 50n - 1n, -(2n ** 50n) + 1n],
    ...[2 ** 50, 2 ** 53 + 2, 0.5],
  ])
  expect(plain).toEqual({
    plants: [
      { id: 1n, name: 'a' },
      { id: 9007199254740994, name: 'b' },
    ],
  })
})

test.each([
  ['-9223372036854775808', -(2n ** 63n)],
  ['-9223372036854775809', null],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['9223372036854775808', null],
  ['9.223372036854775807e18', 2n ** 63n - 1n],
  ['9.223372036854775808e18', null],
  ['-9.223372036854775808e18', -(2n ** 63n)],
  ['1e3', 1000n],
  ['0e-5', 0n],
  ['0e30', 0n],
  ['5.0', 5n],
  ['1.5', null],
  ['', null],
  ['five', null],
])('reads %j as an id', (text, id) => {
  expect(readInt64(text)).toBe(id)
})
