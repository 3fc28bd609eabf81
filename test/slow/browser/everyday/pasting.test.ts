// Pasted rows and texts: `bun run test:browser`.
import { beforeEach, expect } from 'bun:test'
import { until } from '../../../harness/until'
import { ownTasks, test } from './browsers'
import * as labels from './labels'

const { plants, person, openWith } = ownTasks()

const fields = () => plants().map(({ name, tag }) => [name, tag])

beforeEach(async () => {
  await openWith([{ id: 1, name: 'first' }])
})

test('rows without a header are all plants', async () => {
  const rows = Array.from({ length: 30 }, (_, at) => `Pasted plant ${at}`)
  await person.paste(`${rows.join('\n')}\n`)
  await person.click(labels.control('Import 30 plants'))
  await until('all rows', () => fields().length === 31)
  expect(fields().slice(1)).toEqual(rows.map((name) => [name, null]))
})

test('rows that were copied in the console have ids first, and their tags may repeat', async () => {
  await person.paste('Boston fern\tfern\nMaidenhair\tfern\nButton fern\tfern\n')
  await person.click(labels.control('Import 3 plants'))
  await until('all rows', () => fields().length === 4)
  expect(
    fields()
      .slice(1)
      .map(([, tag]) => tag),
  ).toEqual(['fern', 'fern', 'fern'])
  await person.focus(labels.table)
  await person.paste('70\tAgave\tsucculent\n60\tYucca\t\n')
  await person.click(labels.control('Import 2 plants'))
  await until('both rows', () => fields().length === 6)
  expect(plants().slice(-2)).toMatchObject([
    { id: 60n, name: 'Yucca' },
    { id: 70n, name: 'Agave', tag: 'succulent' },
  ])
})

test('a known header names the columns', async () => {
  await person.paste('Name\tTag\nMonstera\taroid\nAloe\tsucculent\n')
  await person.click(labels.control('Import 2 plants'))
  await until('all rows', () => fields().length === 3)
  expect(fields()[1]).toEqual(['Monstera', 'aroid'])
})

test('several lines in the field of a name are shown as rows, and the typed text stays', async () => {
  await person.click(labels.control('Add plant'))
  await person.isIn('#name')
  await person.type('typed')
  expect(await person.paste('Aloe\nAgave\nYucca\n')).toBeFalse()
  await person.find(labels.control('Import 3 plants'))
  await person.press('Escape')
  await person.lose(labels.control('Import 3 plants'))
  expect(await person.textOf(labels.name)).toBe('typed')
  await person.focus(labels.name)
  await person.paste(' one\n')
  expect(await person.textOf(labels.name)).toBe('typed one')
  expect(fields()).toHaveLength(1)
})
