// A colleague changes plants while they are edited here: `bun run test:browser`.
import { beforeEach, expect } from 'bun:test'
import { until } from '../../../harness/until'
import { numbered, ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, plants, person, openWith } = ownTasks(['--keep-changes', '1d'])

const PLANTS = 200
const texts = () => plants().map(({ name, tag }) => `${name} ${tag}`)
const unchanged = (first: number) =>
  Array.from({ length: PLANTS - first + 1 }, (_, at) => `plant ${first + at} fern`)

beforeEach(async () => {
  await openWith(numbered(PLANTS, 'fern'))
  await person.find(labels.text('Updates live'))
})

/** Begins to edit a cell of plant 2, and types a first word. */
async function beginTyping(cell: 'Name' | 'Tag'): Promise<void> {
  await person.focus(labels.table)
  await person.press('ArrowDown', 'ArrowRight')
  if (cell === 'Tag') await person.press('ArrowRight')
  await person.press('F2')
  await person.isIn('.cell-field input')
  await person.type('Rosa')
}

test('the name typed for a plant that is deleted meanwhile is stored in no other plant', async () => {
  await beginTyping('Name')
  await daemon.fetch('/plants/2', { method: 'DELETE' })
  await person.isIn('#name')
  await person.type(' canina')
  await person.find(
    labels.text('This plant was deleted elsewhere. Copy what you typed, if you need it.'),
  )
  expect(await person.textOf(labels.name)).toBe('Rosa canina')
  expect(texts()).toEqual(['plant 1 fern', ...unchanged(3)])
})

test('a plant that leaves the search meanwhile is stored with the whole text', async () => {
  await person.fill(labels.search, 'tag:fern')
  await person.press('Enter')
  await person.find(labels.control('Remove Tag fern'), labels.row('2'))
  await beginTyping('Name')
  await daemon.fetch('/plants/2', { method: 'PATCH', json: { tag: 'rose' } })
  await person.isIn('#name')
  await person.enter(' canina')
  await until('the name', () => texts()[1] === 'Rosa canina rose')
  expect(texts().slice(2)).toEqual(unchanged(3))
})

test('a row that moves away is edited on in the panel, which asks about the same text', async () => {
  await person.click(labels.control('Tag'))
  await person.find(labels.text('Sorted by tag, ascending'))
  await beginTyping('Tag')
  await daemon.fetch('/plants/2', { method: 'PATCH', json: { tag: 'zinnia' } })
  await person.isIn('#tag')
  await person.find(labels.control('Save mine'))
  await person.enter(' canina')
  expect(await person.textOf(labels.tag)).toBe('Rosa canina')
  expect(texts()).toEqual(['plant 1 fern', 'plant 2 zinnia', ...unchanged(3)])
  await person.click(labels.control('Save mine'))
  await until('the tag', () => texts()[1] === 'plant 2 Rosa canina')
})
