// Typed text on a slow network and in an outage: `bun run test:browser`.
import { beforeEach, expect } from 'bun:test'
import { TOKEN } from '../../../harness/daemon'
import { until } from '../../../harness/until'
import { numbered, ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, plants, createToken, revokeToken, person, openConsole, openWith } = ownTasks()

const LATENCY_MS = 300
const names = (): readonly string[] => plants().map(({ name }) => name)

/** A script that delays every request of a page. */
const SLOW = `(() => {
  const { fetch } = window
  window.fetch = async (...request) => {
    await new Promise((resolve) => setTimeout(resolve, ${LATENCY_MS}))
    return fetch(...request)
  }
})() ?? null`

/** A script that makes every request of a page fail until \`mend()\` is called. */
const BROKEN = `(() => {
  const { fetch } = window
  window.fetch = () => Promise.reject(new TypeError('no network'))
  window.mend = () => { window.fetch = fetch }
})() ?? null`

/** A script that loses the response to the next change of a page. */
const LOST = `(() => {
  const { fetch } = window
  window.fetch = async (...request) => {
    const response = await fetch(...request)
    if (request[1]?.method !== 'PATCH') return response
    window.fetch = fetch
    throw new TypeError('no network')
  }
})() ?? null`

const { evaluate } = person

beforeEach(async () => {
  await openWith(numbered(4))
  await person.focus(labels.table)
})

test('names typed faster than the network are all stored whole', async () => {
  await evaluate(SLOW)
  await person.press('n')
  await person.isIn('#name')
  const wanted = Array.from({ length: 6 }, (_, at) => `Salvia nemorosa ${at}`)
  for (const name of wanted) {
    await person.type(name)
    await person.click(labels.control('Add and add another'))
  }
  await until('all names', () => names().length === 4 + wanted.length)
  expect(names().slice(4)).toEqual(wanted)
})

test('a refused name is shown again with its text, and does not take the focus', async () => {
  await evaluate(SLOW)
  await person.press('n')
  await person.isIn('#name')
  await person.type('first')
  await person.fill(labels.id, '2')
  await person.click(labels.control('Add and add another'))
  await person.find(labels.control('Open first, as it was typed'))
  await person.isIn('#name')
  await person.type('second')
  expect(await person.textOf(labels.name)).toBe('second')
  await person.press('Enter')
  await until('the second', () => names().includes('second'))
  await person.click(labels.control('Open first, as it was typed'))
  await person.find(labels.text('This id belongs to a different plant'))
  expect(await person.textOf(labels.name)).toBe('first')
  expect(names()).toHaveLength(5)
  await person.click(labels.control('Use a free ID'))
  await person.isIn('#id')
  await person.press('Enter')
  await until('the first', () => names().includes('first'))
})

test('an id typed over a proposed one replaces it', async () => {
  await evaluate(BROKEN)
  await person.press('n')
  await person.isIn('#name')
  await person.type('Aloe')
  await person.focus(labels.id)
  await evaluate('mend() ?? null')
  await person.untilText(labels.id, '5')
  await person.enter('70')
  await until('the plant', () => names().includes('Aloe'))
  expect(plants().at(-1)).toMatchObject({ id: 70n, name: 'Aloe' })
})

test('a plant that opens late takes no letter from the search or a cell', async () => {
  await evaluate(SLOW)
  await person.click(labels.cell('3', 'plant 3'))
  await person.click(labels.search)
  await person.type('anemone')
  await person.find(labels.heading('plant 3'))
  await person.type(' nemorosa')
  expect(await person.textOf(labels.search)).toBe('anemone nemorosa')
  await person.fill(labels.search, ' ')
  await person.find(labels.row('4'))

  await person.click(labels.cell('4', 'plant 4'))
  await person.focus(labels.table)
  await person.press('ArrowRight')
  await person.type('anemone')
  await person.find(labels.heading('plant 4'))
  await person.enter(' nemorosa')
  await until('the name', () => names()[3] === 'anemone nemorosa')
  expect(names()).toHaveLength(4)
})

test('a plant that is created late does not move the focus in the table', async () => {
  await evaluate(SLOW)
  await person.press('n')
  await person.isIn('#name')
  await person.enter('new')
  await person.isIn('[role=grid]')
  await person.press('ArrowRight')
  await person.find(labels.cell('5', 'new'))
  await person.enter('Rosa')
  await until('the name', () => names()[0] === 'Rosa')
  expect(names()).toEqual(['Rosa', 'plant 2', 'plant 3', 'plant 4', 'new'])
})

test('cells edited during an outage keep their texts, and are stored after it', async () => {
  await evaluate(BROKEN)
  await person.press('ArrowRight')
  for (const text of ['one', 'two', 'three', 'four']) {
    await person.press('F2')
    await person.isIn('.cell-field input')
    await person.enter(text)
    await person.isIn('[role=grid]')
    await person.press('ArrowDown')
  }
  await person.find(labels.text('4 edits not saved yet; retrying'))
  await person.find(labels.cell('1', 'one'), labels.cell('4', 'four'))
  await person.isIn('[role=grid]')
  await evaluate('mend() ?? null')
  await until('all four', () => names().join() === 'one,two,three,four')
  await person.lose(labels.text('4 edits not saved yet; retrying'))
})

test('an edit whose response was lost can be undone like any other', async () => {
  await person.press('ArrowRight')
  for (const text of ['one', 'two']) {
    if (text === 'two') await evaluate(LOST)
    await person.press('F2')
    await person.isIn('.cell-field input')
    await person.enter(text)
    await until(text, () => names().includes(text))
    await person.press('ArrowDown')
  }
  await person.find(labels.text('Plant 2 was changed'))
  await person.press('Control+z')
  await until('the undo', () => !names().includes('two'))
  expect(names().slice(0, 2)).toEqual(['one', 'plant 2'])
})

test('a revoked token asks for another at once, and the text of the cell stays', async () => {
  const token = await createToken('typist')
  await person.open('about:blank')
  await openConsole(token)
  await person.focus(labels.table)
  await person.press('ArrowRight', 'F2')
  await person.isIn('.cell-field input')
  const letters = 'abcdefghijklmnopqrst'
  await person.type(letters)
  await revokeToken('typist')
  await person.find(labels.heading('The token is no longer accepted'))
  expect(names()[0]).toBe('plant 1')
  await person.fill(labels.token, TOKEN)
  await person.press('Enter')
  await person.lose(labels.heading('The token is no longer accepted'))
  await person.isIn('.cell-field input')
  await person.enter('!')
  await until(`the text, not ${names()[0]}`, () => names()[0] === `${letters}!`)
})

test('a refused cell is marked, and the next one keeps the focus', async () => {
  await evaluate(SLOW)
  await person.press('ArrowRight', 'F2')
  await person.type('mine')
  await daemon.fetch('/plants/1', { method: 'PATCH', json: { name: 'theirs' } })
  await person.press('Enter', 'ArrowDown', 'F2')
  await person.type('second')
  await person.find({ kind: '[data-unsaved=refused]', name: 'mine', row: '1' })
  await person.isIn('.cell-field input')
  await person.press('Enter')
  await until('the second', () => names()[1] === 'second')
  expect(names()[0]).toBe('theirs')
  await person.click(labels.control('Open plant 1, as it was typed'))
  await person.find(labels.control('Save mine'))
  await person.click(labels.control('Save mine'))
  await until('the first', () => names()[0] === 'mine')
})
