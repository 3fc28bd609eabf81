// What files of plants say, as commands and the console read and write them.
import { describe, expect, test } from 'bun:test'
import { getSchemaValidator } from 'elysia'
import fc from 'fast-check'
import { type Format, formats } from '../src/format'
import { header, readPlants, writePlant } from '../src/formats/plants'
import { explainMismatch } from '../src/mismatch'
import { NewPlant } from '../src/plant'
import { parseJson } from '../src/plant-json'

/** A text as a stream in parts of `length` bytes. */
async function* cut(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

const read = async (format: Format, text: string | Uint8Array, length = 1 << 16) =>
  (await Array.fromAsync(readPlants(format, cut(Buffer.from(text), length), () => {}))).flat()

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
        const text = header[format] + all.map(writePlant[format]).join('')
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
        const words = explainMismatch(schema, body).replace('the body: ', '')
        expect(entry && 'problem' in entry && sorted(entry.problem)).toEqual(sorted(words))
      }
    }),
    { numRuns: 1000 },
  )
})
