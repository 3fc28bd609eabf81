// New plants in the console: `bun run test:browser`.
import { beforeEach, expect } from 'bun:test'
import { numbered, ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, stored, person, openWith } = ownTasks()

beforeEach(async () => {
  await openWith([{ id: 200, name: 'plant 200', tag: 'houseplant' }])
  await person.focus(labels.table)
})

const { evaluate } = person
const isProposed = (id: string) => person.untilText(labels.id, id)
const marked = `document.querySelector('.row.added .id')?.textContent ?? null`

test('a plant is duplicated under the next id, and shown', async () => {
  await person.press('Enter')
  await person.click(labels.control('Duplicate'))
  await person.find(labels.heading('Add a plant'))
  expect(await person.textOf(labels.name)).toBe('plant 200')
  await isProposed('201')
  // Nothing was typed, so the dialog closes without a question.
  await person.press('Escape')
  await person.lose(labels.heading('Add a plant'))
  await person.focus(labels.table)
  await person.press('Enter')
  await person.click(labels.control('Duplicate'))
  await isProposed('201')
  await person.click(labels.control('Add'))

  await person.find(labels.cell('201', 'plant 200'), labels.cell('201', 'houseplant'))
  expect(stored(201n)).toMatchObject({ name: 'plant 200', tag: 'houseplant' })
  expect(await evaluate(marked)).toBe('201')
})

test('plants are added in a row, each with the next id and the tag of the last', async () => {
  await person.press('n')
  await isProposed('201')
  await person.fill(labels.name, 'Aloe')
  await person.fill(labels.tag, 'succulent')
  await person.click(labels.control('Add and add another'))
  await isProposed('202')
  await person.isIn('#name')
  await person.enter('Agave')
  await person.lose(labels.heading('Add a plant'))

  await person.find(labels.cell('201', 'Aloe'), labels.cell('202', 'Agave'))
  expect(stored(202n)).toMatchObject({ name: 'Agave', tag: 'succulent' })
  expect(await evaluate(marked)).toBe('202')
})

test('a plant that is added below many others is scrolled into view', async () => {
  await daemon.fetch('/plants/batch', { json: { plants: numbered(90) } })
  await person.click(labels.control('Reload'))
  await person.find(labels.row('1'))
  await person.press('n')
  await isProposed('201')
  await person.isIn('#name')
  await person.enter('Agave')
  const isInView = `(() => {
      const row = document.querySelector('.row.added')?.getBoundingClientRect()
      const table = document.querySelector('.scroller').getBoundingClientRect()
      return row !== undefined && row.top >= table.top && row.bottom <= table.bottom + 1
    })()`
  await person.untilEqual(isInView, true)
})
