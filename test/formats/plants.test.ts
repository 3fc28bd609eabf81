// What files of plants say, as commands and the console read and write them.
import { describe, expect, test } from 'bun:test'
import { getSchemaValidator } from 'elysia'
import fc from 'fast-check'
import { type Format, formats } from '../../src/formats/format'
import { readNdjsonLines } from '../../src/formats/ndjson'
import { readPlants, writers } from '../../src/formats/plants'
import { parseJson } from '../../src/plant/json'
import { listMismatches } from '../../src/plant/mismatch'
import { NewPlant } from '../../src/plant/plant'

/** A text as a stream in parts of `length` bytes. */
async function* cut(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

const read = async (format: Format, text: string | Uint8Array, length = 1 << 16) =>
  (await Array.fromAsync(readPlants(format, cut(Buffer.from(text), length), null, () => {}))).flat()

const awkward = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '\ufeff', 'é') })
const plants = fc.array(
  fc.record(
    {
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      name: fc.string({ unit: 'grapheme' }).filter((it) => !it.includes('\0')),
      tag: awkward,
    },
    { requiredKeys: ['id', 'name'] },
  ),
  { maxLength: 20 },
)

describe.each([...formats])('a file of %s', (format) => {
  test('is read as it was written, wherever it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(plants, fc.integer({ min: 1, max: 40 }), async (all, length) => {
        const { header, line } = writers[format]
        const text = header + all.map(line).join('')
        const found = await read(format, text, length)
        expect(found.map((entry) => ('plant' in entry ? entry.plant : entry))).toEqual(all)
      }),
      { numRuns: 100 },
    )
  })

  test('that is broken is read the same, wherever it is cut', async () => {
    const unit = fc.constantFrom('1', '2', ',', '\n', '\r', '"', '{"id":', '"name":', '}', 'x', 'é')
    const texts = fc.string({ unit, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 12 }), async (body, length) => {
        const text = `${format === 'csv' ? 'id,name,tag' : '{}'}\n${body}`
        expect(await read(format, text, length)).toEqual(await read(format, text))
      }),
      { numRuns: 500 },
    )
  })
})

test('a line of NDJSON that is too long, or not UTF-8, is refused alone, wherever it is cut', async () => {
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
    const parts = await Array.fromAsync(readNdjsonLines(cut(text, length), 50))
    expect(parts.flat()).toEqual([
      { line: 1, value: { id: 1n, name: 'né' } },
      { line: 3, problem: 'not UTF-8; convert with iconv' },
      { line: 4, problem: 'longer than 50 bytes' },
      { line: 5, value: { id: 1n, name: 'né' } },
    ])
  }
})

test.each(['utf-16le', 'utf-16be', 'utf-8'])(
  'a file of %s is read, wherever it is cut',
  async (encoding) => {
    const text = '\ufeffid\tname\n1\tné🌵\n'
    const bytes = Buffer.from(text, encoding === 'utf-8' ? 'utf8' : 'utf16le')
    if (encoding === 'utf-16be') bytes.swap16()
    for (const length of [1, 2, 3, 5, 100]) {
      expect(await read('csv', bytes, length)).toEqual([
        { line: 2, plant: { id: 1n, name: 'né🌵' } },
      ])
    }
  },
)

test('a line that is no plant is refused as the body of a request is, in the same words', async () => {
  const schema = getSchemaValidator(NewPlant, { normalize: false })
  const value = fc.constantFrom('Rose', 'a\0', '\ud800', '', null, true, [], 7, 1.5, 2 ** 70, {})
  const fields = fc.record(
    { id: value, name: value, tag: value, note: value },
    { requiredKeys: [] },
  )
  const sorted = (problems: string) => problems.split('; ').toSorted()
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 9, arbitrary: fields }, value), async (it) => {
      const text = JSON.stringify(it)
      const body = parseJson(text)
      const [, entry] = await read('ndjson', `{}\n${text}`)
      if (schema.Check(body)) expect(entry).toHaveProperty('plant')
      else if (Array.isArray(it))
        expect(entry).toMatchObject({ problem: expect.stringContaining('found an array') })
      else {
        const words = listMismatches(schema, body).replace('the body: ', '')
        expect(entry && 'problem' in entry && sorted(entry.problem)).toEqual(sorted(words))
      }
    }),
    { numRuns: 1000 },
  )
})
