import { expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Plant, PlantPatch, PlantUpdate, Replacement } from '../../src/plant/plant'

test.each<[string, TSchema, unknown]>([
  ['a new plant', Plant, { id: 1n, name: 'Rose', more: 1 }],
  ['a replacement', Replacement, { name: 'Rose', more: 1 }],
])('unknown fields are ignored: in %s', (_, schema, value) => {
  expect(Value.Check(schema, value)).toBeTrue()
})

test.each<[string, TSchema, object]>([
  ['a patch', PlantPatch, { tag: null }],
  ['a patch in a batch', PlantUpdate, { id: 1n, tag: 'a' }],
])('an unknown field is refused: in %s, and in its guard', (_, schema, value) => {
  expect(Value.Check(schema, value)).toBeTrue()
  expect(Value.Check(schema, { ...value, more: 1 })).toBeFalse()
  expect(Value.Check(schema, { ...value, was: { tag: 'a', more: 1 } })).toBeFalse()
})

test.each([Plant, Replacement, PlantPatch])('a lone surrogate is no text', (schema) => {
  expect(Value.Check(schema, { id: 1n, name: 'Rose 🌹' })).toBeTrue()
  expect(Value.Check(schema, { id: 1n, name: 'Rose \ud83c' })).toBeFalse()
})
