import { expect, test } from 'bun:test'
import { OPTIONAL_TEXTS, ofOptionalTexts } from '../../src/plant/plant'
import { hasTexts, newRow, type PlantRow, patchRow, toPlant, toRow } from '../../src/plant/row'

const rowOf = (text: string | null, name = 'Rose'): PlantRow => [
  1,
  name,
  ...OPTIONAL_TEXTS.map(() => text),
]

test('a row keeps an id beyond 2^53 exactly, and each text that a plant has', () => {
  const plant = { id: 9007199254740993n, name: 'Rose', ...ofOptionalTexts(() => '') }

  expect(toRow(plant)[0]).toBe('9007199254740993')
  expect(toPlant(toRow(plant))).toEqual(plant)
  expect(toRow({ id: 1n, name: 'Rose' })).toEqual(rowOf(null))
  expect(toPlant(rowOf(null))).toEqual({ id: 1n, name: 'Rose' })
})

test('a patch removes a text by null, sets one, and leaves what it lacks', () => {
  expect(
    patchRow(
      rowOf('a'),
      ofOptionalTexts(() => null),
    ),
  ).toEqual(rowOf(null))
  expect(
    patchRow(
      rowOf(null),
      ofOptionalTexts(() => ''),
    ),
  ).toEqual(rowOf(''))
  expect(patchRow(rowOf('a'), {})).toEqual(rowOf('a'))
  expect(patchRow(rowOf('a'), { name: 'Fern' })).toEqual(rowOf('a', 'Fern'))
})

test('a row has the texts of a guard if each is equal, or is missing where null is expected', () => {
  expect(hasTexts(rowOf('a'), { name: 'Rose' })).toBeTrue()
  expect(hasTexts(rowOf('a'), { name: 'Fern' })).toBeFalse()
  expect(
    hasTexts(
      rowOf(null),
      ofOptionalTexts(() => null),
    ),
  ).toBeTrue()
  expect(
    hasTexts(
      rowOf(''),
      ofOptionalTexts(() => null),
    ),
  ).toBeFalse()
})

test('a patch without a name makes no new row', () => {
  expect(
    newRow(
      1,
      ofOptionalTexts(() => 'a'),
    ),
  ).toBeNull()
  expect(newRow(1, { name: 'Rose' })).toEqual(rowOf(null))
})
