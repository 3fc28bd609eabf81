import { expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Plant, PlantPatch, PlantUpdate, Replacement } from '../../src/plant/plant'

test.each<[string, TSchema, unknown]>([
  ['a new plant', Plant, { id: 1n, name: 'Rose', more: 1 }],
  ['a replacement', Replacement, { name: 'Rose', more: 1 }],
  ['a patch', PlantPatch, { tag: null, more: 1 }],
  ['a patch in a batch', PlantUpdate, { id: 1n, tag: 'a', more: 1 }],
  ['the fields that a plant must still have', PlantUpdate, { id: 1n, was: { tag: 'a', more: 1 } }],
])('unknown fields are ignored: in %s', (_, schema, value) => {
  expect(Value.Check(schema, value)).toBeTrue()
})
