// The client's exact parsing of ids, compared with BigInt and JSON.parse.
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { parseJson, plantText, toNewPlant, toPage } from '../../src/client/json'
import { PATIENCE_MS } from '../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.stringMatching(/^["\\:,{}id0-9 -]*$/),
  fc.constantFrom('id', '"id":9007199254740993', '\\', '\\\\"', '","id":1,"'),
)
const plant = fc.record(
  { id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), name: text, tag: text },
  { requiredKeys: ['id', 'name'] },
)
const space = fc.stringMatching(/^[ \t\n\r]{0,3}$/)

test('the client reads the JSON that it writes', () => {
  fc.assert(
    fc.property(plant, (sample) => {
      expect(toNewPlant(parseJson(plantText(sample)))).toEqual(sample)
    }),
    { numRuns: 2000 },
  )
})

test('the client reads ids with any white space, in any order of the fields', () => {
  fc.assert(
    fc.property(fc.array(plant), space, (plants, gap) => {
      const items = plants.map(({ id, ...rest }) => {
        const fields = JSON.stringify(rest).slice(1, -1)
        return `{${gap}${fields},${gap}"id"${gap}:${gap}${id}${gap}}`
      })
      const page = `{"next":null,${gap}"plants":[${items.join(`${gap},`)}]}${gap}`
      expect(toPage(parseJson(page))).toEqual({ plants, next: null })
    }),
    { numRuns: 1000 },
  )
})

test('the client reads everything but ids as JSON.parse does', () => {
  const noId = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"id"'))
  fc.assert(
    fc.property(noId, (value) => {
      const json = JSON.stringify(value)
      expect(parseJson(json)).toEqual(JSON.parse(json))
    }),
    { numRuns: 2000 },
  )
})

test('the client marks the integers of ids, and no others', () => {
  const json = '{"no":5,"xid":5,"id":5,"plants":[{"id":-0},{"ID":5}],"tag":"id"}'

  expect(parseJson(json)).toEqual({
    no: 5,
    xid: 5,
    id: '5',
    plants: [{ id: '-0' }, { ID: 5 }],
    tag: 'id',
  })
})

test('the client refuses an id that is not exact', () => {
  for (const id of ['1.5', '1e3', '9007199254740993.0', '"a"', 'null', '12345678901234567890123']) {
    expect(toNewPlant(parseJson(`{"id":${id},"name":"a"}`))).toBeUndefined()
  }
})

test.each(['{"id":1', '{"id":', '"id', '"id\\"', '{"a":"\\', '', '{"id":1}}'])(
  'the client refuses %j, which is not JSON',
  (broken) => {
    expect(() => parseJson(broken)).toThrow(SyntaxError)
  },
)
