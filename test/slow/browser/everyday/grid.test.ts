// The table as a spreadsheet: typing, copying, pasting and ranges: `bun run test:browser`.
import { beforeEach, expect } from 'bun:test'
import { until } from '../../../harness/until'
import { ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, plants, removePlants, person, openConsole } = ownTasks(['--keep-changes', '1d'])

const LARGEST = '9223372036854775807'
const PLANTS = `{"plants":[
  {"id":1,"name":"Boston fern","tag":"fern"},
  {"id":2,"name":"Monstera","tag":"aroid"},
  {"id":3,"name":"Aloe"},
  {"id":${LARGEST},"name":"Last"}
]}`

const stored = () => plants().map(({ name, tag }) => `${name}|${tag ?? ''}`)
const isStored = (...wanted: readonly string[]) =>
  until(`stored ${wanted.join()}`, () => wanted.every((text, at) => stored()[at] === text))

const { evaluate } = person
const ACTIVE = `document.querySelector('[role=grid]').getAttribute('aria-activedescendant')`
const isAt = (id: string) => person.untilEqual(ACTIVE, id)
/** Records the copied data by type. */
const watchCopies = () =>
  evaluate(`(() => {
      const { setData } = DataTransfer.prototype
      window.copied = {}
      DataTransfer.prototype.setData = function (type, text) {
        window.copied[type] = text
        return setData.call(this, type, text)
      }
    })() ?? null`)
const copied = (type: string) => evaluate(`window.copied[${JSON.stringify(type)}] ?? null`)

beforeEach(async () => {
  await removePlants()
  await daemon.fetch('/plants/batch', { method: 'POST', body: PLANTS })
  await openConsole()
  await person.focus(labels.table)
})

test('letters typed on a selected cell replace its text, even if they are shortcuts', async () => {
  await person.press('ArrowRight')
  await person.type('narcissus')
  expect(await person.textOf(labels.cellField('Name', '1'))).toBe('narcissus')
  await person.press('Enter')
  await isStored('narcissus|fern')
  expect(await person.sees(labels.heading('Add a plant'))).toBeFalse()
})

test('single letters are shortcuts outside cells, until they are switched off', async () => {
  await person.press('n')
  await person.find(labels.heading('Add a plant'))
  await person.press('Escape')
  await person.lose(labels.heading('Add a plant'))
  await person.focus(labels.table)
  await person.press('?')
  await person.click({ kind: 'input', name: 'Single letters outside of cells are shortcuts' })
  await person.press('Escape')
  await person.focus(labels.table)
  await person.press('n', '?')
  expect(await person.sees(labels.heading('Add a plant'))).toBeFalse()
  expect(await evaluate('localStorage.length')).toBe(1)
  await evaluate('localStorage.clear() ?? null')
})

test('Delete empties a tag, Ctrl+Z restores it, and the plants stay', async () => {
  await person.press('ArrowRight', 'ArrowRight', 'Delete')
  await isStored('Boston fern|')
  await person.press('Control+z')
  await isStored('Boston fern|fern')
  expect(stored()).toHaveLength(4)
})

test('one value is pasted into a cell; several lines are shown as rows to import', async () => {
  await person.press('ArrowRight')
  expect(await person.paste('pasted\n')).toBeFalse()
  await isStored('pasted|fern')
  expect(await person.paste('one\ntwo\n')).toBeFalse()
  await person.find(labels.heading('Import pasted rows'))
  await person.press('Escape')
  await person.lose(labels.heading('Import pasted rows'))
  expect(stored()).toHaveLength(4)
})

test('the keyboard copies and pastes a cell, even after another was edited', async () => {
  await person.press('ArrowRight')
  await person.enter('5" pot')
  await isStored('5" pot|fern')
  await person.find(labels.text('Plant 1 was changed'))
  await person.press('Control+c')
  await person.find(labels.text('Copied'))
  await person.press('ArrowDown', 'Control+v')
  await isStored('5" pot|fern', '5" pot|aroid')
  await person.press('ArrowLeft', '/', 'Control+v')
  expect(await person.textOf(labels.search)).toBe('5" pot')
})

test('the keyboard copies a range and pastes it at the selected cell', async () => {
  await person.press('ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowDown', 'Control+c')
  await person.find(labels.text('Copied'))
  await person.press('ArrowLeft', 'Control+v')
  await isStored('Boston fern|fern', 'Boston fern|fern', 'Monstera|aroid', 'Last|')
  await person.press('ArrowDown', 'ArrowDown', 'Control+v')
  await person.find(labels.text('Nothing was changed: the range reaches beyond the last row'))
})

test('a pasted row fills the cells beside the selected one, or is shown as a row to import', async () => {
  await person.press('ArrowRight')
  expect(await person.paste('Agave\tsucculent\n')).toBeFalse()
  await isStored('Agave|succulent')
  expect(await person.paste('101\tYucca\tpalm\n')).toBeFalse()
  await person.click(labels.control('Import 1 plant'))
  await until('the plant', () => stored().includes('Yucca|palm'))
  expect(stored()[0]).toBe('Agave|succulent')
})

test('a range accepts quoted cells with line breaks', async () => {
  await person.press('ArrowRight', 'Shift+ArrowDown', 'Shift+ArrowRight')
  await person.paste('"one\nline ""a"""\tx\ntwo\ty\n')
  await isStored('one\nline "a"|x', 'two|y', 'Aloe|')
})

test('a dead key opens the cell, and the accented letter replaces its text', async () => {
  await person.press('ArrowRight')
  const pressed = `new KeyboardEvent('keydown', { key: 'Dead', bubbles: true, cancelable: true })`
  expect(await evaluate(`document.activeElement.dispatchEvent(${pressed})`)).toBeTrue()
  await person.isIn('.cell-field input')
  await person.enter('édel')
  await isStored('édel|fern')
})

test('an arrow key without Shift ends a range', async () => {
  await person.press('ArrowRight', 'ArrowRight', 'Shift+ArrowDown', 'Control+End', 'Delete')
  await person.find(labels.text('Nothing was changed'))
  await isStored('Boston fern|fern', 'Monstera|aroid')
})

test('Home and End move to the ends of a row, or with Control of the table', async () => {
  await person.press('ArrowDown', 'ArrowRight', 'End')
  await isAt('plant-2-tag')
  await person.press('Home')
  await isAt('plant-2-name')
  await person.press('Control+End')
  await isAt(`plant-${LARGEST}-tag`)
  await person.press('Control+Home')
  await isAt('plant-1-name')
  await person.press('ArrowLeft', 'End')
  await isAt(`plant-${LARGEST}`)
  await person.press('Home')
  await isAt('plant-1')
})

test('the left arrow moves left, even on a right-to-left page', async () => {
  await evaluate(`document.documentElement.dir = 'rtl'`)
  await person.press('ArrowLeft')
  await isAt('plant-1-name')
  await person.press('ArrowLeft')
  await isAt('plant-1-tag')
  await person.press('ArrowRight')
  await isAt('plant-1-name')
})

test('dragging over cells selects them, but no text, and opens no plant', async () => {
  await watchCopies()
  await person.drag(labels.cell('1', 'Boston fern'), labels.cell('2', 'aroid'))
  await person.isIn('[role=grid]')
  expect(await evaluate(`getSelection().toString()`)).toBe('')
  await person.press('Control+c')
  await person.find(labels.text('Copied'))
  expect(await copied('text/plain')).toBe('Boston fern\tfern\nMonstera\taroid')
  expect(await person.sees(labels.heading('Boston fern'))).toBeFalse()
  await person.drag(labels.cell('3', 'Aloe'), labels.cell('2', 'Monstera'))
  await person.paste('new')
  await isStored('Boston fern|fern', 'new|aroid', 'new|')
  await person.click(labels.cell('1', 'Boston fern'))
  await person.find(labels.heading('Boston fern'))
})

test('a range stays on its plants while someone else adds one above them', async () => {
  await daemon.fetch('/plants/1', { method: 'DELETE' })
  await person.lose(labels.row('1'))
  await person.press('ArrowRight', 'ArrowRight', 'Shift+ArrowDown')
  await daemon.create('{"id":1,"name":"theirs","tag":"kept"}')
  await person.find(labels.row('1'))
  await person.paste('new')
  await isStored('theirs|kept', 'Monstera|new', 'Aloe|new', 'Last|')
})

test('Delete in an empty tag only says that nothing was changed', async () => {
  await person.press('ArrowDown', 'ArrowDown', 'ArrowRight', 'Delete')
  await person.find(labels.text('Nothing was changed: a plant needs a name'))
  await person.press('ArrowRight', 'Delete')
  await person.find(labels.text('Nothing was changed'))
})

test('a range selected with Shift and a click is copied, and filled by a paste', async () => {
  await watchCopies()
  await person.click(labels.cell('1', 'Boston fern'))
  await person.find(labels.heading('Boston fern'))
  await person.click(labels.cell('2', 'aroid'), true)
  await person.isIn('[role=grid]')
  await person.press('Control+c')
  await person.find(labels.text('Copied'))
  expect(await copied('text/plain')).toBe('Boston fern\tfern\nMonstera\taroid')
  await person.press('ArrowDown')
  await person.click(labels.cell('2', 'aroid'), true)
  await person.paste('new')
  await isStored('Boston fern|fern', 'Monstera|new', 'Aloe|new')
  await person.press('Control+z')
  await isStored('Boston fern|fern', 'Monstera|aroid', 'Aloe|')
})

test('ticked plants are copied with exact ids, as text and as a table', async () => {
  await watchCopies()
  await person.press(' ', 'End', ' ')
  await person.find(labels.selected('2 selected'))
  await person.press('Control+c')
  await person.find(labels.text('Copied 2 plants'))
  expect(await copied('text/plain')).toBe(`1\tBoston fern\tfern\n${LARGEST}\tLast\t`)
  expect(await copied('text/html')).toContain(`mso-number-format:'\\@'">${LARGEST}</td>`)
})
