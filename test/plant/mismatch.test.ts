import { expect, test } from 'bun:test'
import { Kind } from '@sinclair/typebox'
import { ValueErrorType } from '@sinclair/typebox/errors'
import { expectation, listMismatches, listProblems } from '../../src/plant/mismatch'

/** A validator that finds this many wrong fields, and counts how many were asked for. */
function wrong(fields: number) {
  const validator = {
    asked: 0,
    *Errors() {
      for (let field = 0; field < fields; field++) {
        validator.asked += 1
        yield { path: `/field${field}`, value: 1, schema: { type: 'string', error: 'no' } }
      }
    },
  }
  return validator
}

const all = (count: number) =>
  Array.from({ length: count }, (_, field) => `field${field}: no, found a number`).join('; ')

test.each([1, 9, 10])('names all of %d wrong fields', (fields) => {
  expect(listMismatches(wrong(fields), {})).toBe(all(fields))
})

test.each([11, 12, 1000])('names ten of %d wrong fields, and stops after one more', (fields) => {
  const validator = wrong(fields)

  expect(listMismatches(validator, {})).toBe(`${all(10)}; and more`)
  expect(validator.asked).toBe(11)
})

test('lists ten problems, and says that there are more', () => {
  const problems = Array.from({ length: 11 }, (_, index) => `p${index}`)

  expect(listProblems(problems.slice(0, 10))).toEndWith('p9')
  expect(listProblems(problems)).toEndWith('p9; and more')
})

test.each([
  ['a text of another type', { type: 'string', error: 'no' }, 5, 'no, found a number'],
  ['a text by an array', { type: 'string', error: 'no' }, [], 'no, found an array'],
  ['a text by null', { type: 'string', error: 'no' }, null, 'no, found null'],
  ['a text by an exact number', { type: 'string', error: 'no' }, 5n, 'no, found a number'],
  ['a text that is malformed', { type: 'string', error: 'no' }, '\0', 'no'],
  ['a number in a query', { [Kind]: 'Parameter', type: 'integer', error: 'no' }, 'many', 'no'],
  [
    'a patch with an object',
    { [Kind]: 'TextOrNull', type: ['string', 'null'], error: 'no' },
    {},
    'expected a string or null, found an object',
  ],
])('says what is expected instead of %s', (_, rule, value, expected) => {
  expect(expectation(rule, value)).toBe(expected)
})

test.each([
  ['/plants/1/name', 'plants[1].name (id 7)'],
  ['/plants/0/name', 'plants[0].name'],
  ['/plants/2/was/tag', 'plants[2].was.tag'],
  ['/name', 'name'],
  ['', 'the body'],
])('names the field at %j', (path, field) => {
  const error = { path, value: 1, schema: { type: 'string', error: 'no' } }
  const plants = [{ id: '7' }, { id: 7n }]

  expect(listMismatches({ Errors: () => [error] }, { plants })).toBe(`${field}: no, found a number`)
})

test.each([
  ['/nmae', 'the body: unknown field; use name'],
  ['/plants/1/was/Name', 'plants[1].was (id 7): unknown field; use name'],
  ['/plants/1/Was', 'plants[1] (id 7): unknown field; use name'],
  ['/plants/0/a~1b', 'plants[0]: unknown field; use name'],
])('says where an unknown field is, at %j, and never its name', (path, message) => {
  const schema = { type: 'object', error: 'no', unknown: 'unknown field; use name' }
  const error = { path, value: {}, schema, type: ValueErrorType.ObjectAdditionalProperties }
  const plants = [{}, { id: 7n }]

  expect(listMismatches({ Errors: () => [error] }, { plants })).toBe(message)
})
