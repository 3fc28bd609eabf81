import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readJson } from '../../src/formats/json'
import { cut } from './reading'

const read = async (text: string | Uint8Array, length = 1 << 16, limit = 1000) =>
  (await Array.fromAsync(readJson(cut(Buffer.from(text), length), limit, null))).flat()

test('reads the objects of an array, wherever it is cut, with the lines at which they begin', async () => {
  const text = '\n[ {"a":"x]\\"},{"},\n\n{"b":[{},[1,2]],\n"c":1}\n,{}\n]\n'
  for (const length of [1, 2, 3, 7, 100]) {
    expect(await read(text, length)).toEqual([
      { line: 2, cells: { a: 'x]"},{' } },
      { line: 4, cells: { b: [{}, [1, 2]], c: 1 } },
      { line: 6, cells: {} },
    ])
  }
})

test('reads any array as JSON.parse does, wherever it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(0, 1, 2),
      async (values, length, indent) => {
        const text = JSON.stringify(values, null, indent)
        const rows = await read(text, length, 100_000)
        const plain = (it: unknown) =>
          JSON.stringify(it, (_, v) => (typeof v === 'bigint' ? Number(v) : v))
        expect(plain(rows.map((row) => 'cells' in row && row.cells))).toBe(plain(JSON.parse(text)))
      },
    ),
    { numRuns: 100 },
  )
})

test.each([
  ['[{"a":1}', 'the array does not end'],
  ['[{"a":1},', 'the array does not end'],
  ['[{"a":1} {"b":2}]', 'expected a comma or the end of the array, found "{"'],
  ['[{"a":1}] x', '"x" after the array'],
])('stops where an array is broken: %s', async (text, stop) => {
  for (const length of [1, 100]) {
    const rows = await read(text, length)
    expect(rows).toEqual([
      { line: 1, cells: { a: 1 } },
      { line: 1, stop },
    ])
  }
})

test('refuses a broken value of an array alone', async () => {
  expect(await read('[{"a":1,},\n7,{"b":2}]')).toEqual([
    { line: 1, problem: 'not JSON', text: '{"a":1,}' },
    { line: 2, problem: expect.stringContaining('found a number'), text: '7' },
    { line: 2, cells: { b: 2 } },
  ])
})

test('stops at a value that is too long', async () => {
  expect((await read(`[{"a":"${'x'.repeat(60)}`, 5, 50)).at(-1)).toEqual({
    line: 1,
    stop: 'a value longer than 50 characters',
  })
})

test('a line that is too long, or not UTF-8, is refused alone, wherever it is cut', async () => {
  const good = '{"id":1,"name":"né"}'
  const long = `{"id":2,"name":"${'x'.repeat(60)}"}`
  const bytes = Buffer.from([good, '', '{"id":3,"name":"\xff"}', long, good].join('\n'), 'latin1')
  const utf8 = Buffer.from(good)
  const text = Buffer.concat([
    utf8,
    bytes.subarray(bytes.indexOf(10), bytes.lastIndexOf(10) + 1),
    utf8,
  ])
  for (const length of [1, 2, 7, 50]) {
    expect(await read(text, length, 50)).toMatchObject([
      { line: 1, cells: { id: 1, name: 'né' } },
      { line: 3, problem: expect.stringContaining('not UTF-8: it reads') },
      { line: 4, problem: 'longer than 50 bytes' },
      { line: 5, cells: { id: 1, name: 'né' } },
    ])
  }
})

test('reads lines and arrays in UTF-16', async () => {
  for (const text of ['\ufeff{"a":"é"}\n', '\ufeff[{"a":"é"}]']) {
    expect(await read(Buffer.from(text, 'utf16le'), 3)).toEqual([{ line: 1, cells: { a: 'é' } }])
  }
})
