// Cells of the table that are edited in place: `bun run test:browser`.
import { beforeEach, expect } from 'bun:test'
import { until } from '../../../harness/until'
import { ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, plants, createToken, person, openWith } = ownTasks()

const PLANTS = [
  { id: 1, name: 'Boston fern', tag: 'fern' },
  { id: 2, name: 'Monstera' },
  { id: 3, name: 'Two\nlines', tag: 'aroid' },
  { id: 4, name: 'Snake plant', tag: 'aroid' },
]
const TABLE = '[role=grid]'
const FIELD = '.cell-field input'
const NAME = labels.cellField('Name', '1')
const TAG = labels.cellField('Tag', '1')
const BOSTON = labels.cell('1', 'Boston fern')
/** A tag cell, whose centre is beside the tag itself. */
const FERN = labels.cell('1', 'fern')
const OPEN = labels.control('Open plant 1, as it was typed')
const PANEL = labels.control('Duplicate')

const stored = (id: number) => plants().find((plant) => plant.id === BigInt(id))
const isStored = (id: number, fields: { readonly name?: string; readonly tag?: string | null }) =>
  until(`plant ${id} with ${JSON.stringify(fields)}`, () =>
    Object.entries(fields).every(
      ([field, text]) => stored(id)?.[field as keyof typeof fields] === text,
    ),
  )

const { evaluate } = person
/** Edits a cell with the mouse. */
async function edit(cell: labels.Target): Promise<void> {
  await person.doubleClick(cell)
  await person.isIn(FIELD)
}

beforeEach(async () => {
  await openWith(PLANTS)
})

test('a double click edits a name, and Enter saves it', async () => {
  await edit(BOSTON)
  await person.find(NAME)
  expect(await person.textOf(NAME)).toBe('Boston fern')
  await person.enter('Sword')
  await person.find(labels.cell('1', 'Sword'), labels.text('Plant 1 was changed'))

  await person.isIn(TABLE)
  expect(stored(1)).toMatchObject({ name: 'Sword', tag: 'fern' })
  expect(await person.sees(PANEL)).toBeFalse()
})

test('a double click edits a tag, with suggestions; one click searches for it', async () => {
  await edit(FERN)
  await person.type('oi')
  await person.find({ kind: '[role=option]', name: { pattern: '^aroid' } })
  await person.press('ArrowDown', 'Enter')
  expect(await person.textOf(TAG)).toBe('aroid')
  await person.press('Enter')
  await isStored(1, { tag: 'aroid' })
  await edit({ kind: '.tag', name: 'no tag', row: '2' })
  await person.enter('new')
  await isStored(2, { tag: 'new' })

  await person.click(labels.tagOf('1', 'aroid'))
  await person.lose(labels.row('2'))
  await person.find(labels.row('4'))
})

test('one click opens the plant, and Escape restores the text of a cell', async () => {
  await edit(BOSTON)
  await person.type('x')
  await person.press('Escape')
  await person.isIn(TABLE)
  await person.find(BOSTON)
  expect(stored(1)).toMatchObject({ name: 'Boston fern' })
  await person.click(labels.cell('4', 'Snake plant'))
  await person.find(labels.heading('Snake plant'))
})

test('a click outside the field saves it', async () => {
  await edit(BOSTON)
  await person.type('Sword')
  await person.click(labels.search)
  await isStored(1, { name: 'Sword' })
})

test('Tab saves and moves to the next cell, past a text of two lines; Shift+Tab moves back', async () => {
  await edit(BOSTON)
  await person.type('Sword')
  await person.press('Tab')
  await person.type('x')
  await person.press('Tab')
  await person.type('Swiss')
  await person.press('Tab')
  await person.type('y')
  await person.press('Tab')
  await person.find(labels.cellField('Tag', '3'))
  await person.press('Shift+Tab')
  await person.find(labels.cellField('Tag', '2'))
  expect(await person.textOf(labels.cellField('Tag', '2'))).toBe('y')
  await person.press('Shift+Tab')
  await person.find(labels.cellField('Name', '2'))
  await person.press('Escape')

  await isStored(1, { name: 'Sword', tag: 'x' })
  await isStored(2, { name: 'Swiss', tag: 'y' })
  expect(stored(3)).toMatchObject({ name: 'Two\nlines', tag: 'aroid' })
})

test('Tab moves on from a plant whose change removes it from the search', async () => {
  await person.fill(labels.search, 'tag:aroid')
  await person.press('Enter')
  await person.lose(labels.row('1'))
  await edit(labels.cell('3', 'aroid'))
  await person.type('x')
  await person.press('Tab')
  await person.find(labels.cellField('Name', '4'))
  await person.lose(labels.row('3'))
  await isStored(3, { name: 'Two\nlines', tag: 'x' })
})

test('a text of two lines is edited in the form, and a cell of a narrow table in the panel', async () => {
  await person.doubleClick(labels.cell('3', 'Two lines'))
  await person.find(labels.heading('Edit plant 3'))
  await evaluate(`(document.querySelector('.table').style.maxWidth = '30rem')`)
  await person.doubleClick(BOSTON)
  await person.find(labels.heading('Boston fern'))
  expect(await evaluate(`document.querySelector('.cell-field')`)).toBeNull()
})

test('arrow keys move to a cell, where Enter and F2 edit; on a row, Enter opens the plant', async () => {
  await person.focus(labels.table)
  await person.press('ArrowRight', 'ArrowRight')
  const active = () =>
    evaluate(
      `document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).textContent`,
    )
  expect(await active()).toBe('fern')
  await person.press('ArrowDown', 'Enter')
  await person.find(labels.cellField('Tag', '2'))
  await person.enter('x')
  await isStored(2, { tag: 'x' })
  await person.isIn(TABLE)
  await person.press('ArrowLeft', 'F2')
  await person.find(labels.cellField('Name', '2'))
  await person.press('Escape', 'ArrowLeft', 'Enter')
  await person.find(labels.heading('Monstera'))
})

test('an emptied tag is removed; Undo and Ctrl+Z restore the earlier texts, the latest first', async () => {
  await edit(BOSTON)
  await person.type('Sword')
  await person.press('Tab', 'Delete', 'Enter')
  await isStored(1, { name: 'Sword', tag: null })
  await person.click(labels.control('Undo the tag of plant 1'))
  await isStored(1, { name: 'Sword', tag: 'fern' })
  await person.find(FERN)
  await person.focus(labels.table)
  await person.press('Control+z')
  await person.find(BOSTON)
  await isStored(1, { name: 'Boston fern' })
})

test('a change by someone else before the edit began is not overwritten', async () => {
  await evaluate(`(() => {
      const { fetch } = window
      const { promise, resolve } = Promise.withResolvers()
      window.release = resolve
      window.fetch = (...request) => promise.then(() => fetch(...request))
    })() ?? null`)
  await daemon.fetch('/plants/1', { method: 'PATCH', json: { name: 'theirs' } })
  await edit(BOSTON)
  await person.enter('mine')
  await person.find(labels.cell('1', 'mine'))
  await evaluate('release() ?? null')
  await person.click(OPEN)
  await person.find(labels.control('Save mine'), labels.cell('1', 'theirs'))
  expect(stored(1)).toMatchObject({ name: 'theirs' })
})

test('a form with typed text is not closed to edit a cell', async () => {
  await person.click(labels.control('Add plant'))
  await person.isIn('#name')
  await person.type('typed')
  await person.doubleClick(FERN)
  await person.click(labels.control('Keep editing'))
  expect(await person.textOf(labels.name)).toBe('typed')
})

test('a read-only token edits nothing', async () => {
  const token = await createToken(`reader ${Bun.randomUUIDv7()}`, '--scope', 'read')
  await person.click(labels.control('Disconnect'))
  await person.fill(labels.token, token)
  await person.press('Enter')
  await person.find(labels.row('1'))
  await person.focus(labels.table)
  await person.press('ArrowRight', 'Enter')
  await person.find(labels.heading('Boston fern'))
  await person.doubleClick(labels.cell('2', 'Monstera'))
  await person.find(labels.heading('Monstera'))
  expect(await evaluate(`document.querySelector('.cell-field')`)).toBeNull()
})
