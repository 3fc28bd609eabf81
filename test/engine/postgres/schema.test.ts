import { expect, test } from 'bun:test'
import schema from '../../../src/engine/postgres/schema.sql' with { type: 'text' }
import { FIELDS } from '../../../src/plant/plant'

test('the table of plants has a column for each field', () => {
  const [, table = ''] = /CREATE TABLE plants \(\n(.*?)\n\)/s.exec(schema) ?? []
  const columns = [...table.matchAll(/^ {2}([a-z_]+) /gm)].map(([, name]) => name)

  expect(columns).toEqual(expect.arrayContaining([...FIELDS]))
})
