// The console's next free id, and the fields to which errors belong.
import { expect, test } from 'bun:test'
import { errorsByField } from '../../../src/web/console/editor/field-errors'
import { idAfter } from '../../../src/web/console/int64'

test.each([
  ['an empty list', [], 1n],
  ['a negative id', [-5n], 1n],
  ['several ids', [3n, 7n, -1n], 8n],
  ['the largest id', [2n ** 63n - 1n], null],
])('the next free id follows %s', (_, ids, next) => {
  expect(idAfter(ids)).toBe(next)
})

test.each([
  ['id: expected an integer from 1 to 2; name is missing', 40002, ['id', 'name']],
  ['tag: expected a string', 40002, ['tag']],
  ['the body: expected an object', 40002, ['form']],
  ['this id belongs to a different plant', 40902, ['id']],
  ['disk full; nothing was stored', 50701, ['form']],
])('the message %j is shown at the fields that it names', (message, error, fields) => {
  const errors = errorsByField({ ok: false, error, status: Math.floor(error / 100), message })

  expect(Object.keys(errors).toSorted()).toEqual(fields)
  expect(Object.values(errors).join('; ')).toBe(message)
})
