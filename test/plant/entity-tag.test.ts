import { expect, test } from 'bun:test'
import { entityTagOf, holds, restoreTag } from '../../src/plant/entity-tag'
import { OPTIONAL_TEXTS, ofOptionalTexts, type Plant } from '../../src/plant/plant'

/** The entity tag of a plant that is sent as this JSON. */
const hashOf = (json: string) => `"${Bun.SHA256.hash(json, 'base64url').slice(0, 22)}"`

test('an entity tag is of the fields that a plant has, and of no others', () => {
  const plant: Plant = { id: 9223372036854775807n, name: 'Rose' }
  const expected = hashOf('{"id":9223372036854775807,"name":"Rose"}')

  expect(entityTagOf(plant)).toBe(expected)
  const lacking: object = ofOptionalTexts(() => undefined)
  expect(entityTagOf({ ...plant, ...lacking })).toBe(expected)
  for (const field of OPTIONAL_TEXTS) {
    const json = `{"id":9223372036854775807,"name":"Rose","${field}":""}`
    expect(entityTagOf({ ...plant, [field]: '' })).toBe(hashOf(json))
  }
})

test('plants that differ in one field have different entity tags', () => {
  const plants: Plant[] = [
    { id: 1n, name: 'a' },
    { id: 2n, name: 'a' },
    { id: 9007199254740993n, name: 'a' },
    { id: 9007199254740992n, name: 'a' },
    { id: 1n, name: '' },
    { id: 1n, name: 'a","tag":"b' },
    ...OPTIONAL_TEXTS.flatMap((field) =>
      ['', 'a', 'b'].map((text) => ({ id: 1n, name: 'a', [field]: text })),
    ),
  ]

  expect(new Set(plants.map((plant) => entityTagOf(plant))).size).toBe(plants.length)
})

test('an entity tag is restored from the forms that compressing proxies give it, and from no others', () => {
  const tag = '"ABCDEFGHIJKLMNOPQRSTUV"'
  const withEnding = (ending: string) => tag.replace(/"$/, `${ending}"`)
  for (const ending of ['', '-gzip', '-br', '-zstd', '-deflate']) {
    const form = withEnding(ending)
    expect([restoreTag(form), restoreTag(`W/${form}`)]).toEqual([tag, tag])
  }
  for (const ending of ['-', '-GZIP', '-xz', 'gzip', '--gzip', ';gzip', '-gzip-br', ':br', 'x']) {
    expect(restoreTag(withEnding(ending))).not.toBe(tag)
  }
  // It only looks like a form.
  expect(restoreTag('"ABCDEFGHIJKLMNOPQRS-br"')).toBe('"ABCDEFGHIJKLMNOPQRS-br"')
})

test('a precondition holds for the plant that If-Match names, and for none that If-None-Match names', () => {
  const plant: Plant = { id: 1n, name: 'Rose' }
  const tag = entityTagOf(plant)

  expect(holds({}, plant)).toBeTrue()
  expect(holds({ ifMatch: ['"other"', tag] }, plant)).toBeTrue()
  expect(holds({ ifMatch: ['"other"'] }, plant)).toBeFalse()
  expect(holds({ ifNoneMatch: ['"other"'] }, plant)).toBeTrue()
  expect(holds({ ifNoneMatch: [tag] }, plant)).toBeFalse()
  expect(holds({ ifNoneMatch: '*' }, plant)).toBeFalse()
})
