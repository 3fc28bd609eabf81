// The console with 50,000 plants: `bun run test:browser`.
import { beforeAll, beforeEach, expect } from 'bun:test'
import { until } from '../../../harness/until'
import { ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, createPlants, person, browser, openConsole } = ownTasks()

const PLANTS = 50_000
const KINDS = ['Günsel', 'rose', 'Éclair fern', 'ash', 'zinnia']

beforeAll(() =>
  createPlants(
    Array.from({ length: PLANTS }, (_, id) => ({
      id: BigInt(id),
      name: `${KINDS[id % KINDS.length]} ${(id * 7919) % PLANTS}`,
      tag: id % 2 ? 'odd' : 'even',
    })),
  ),
)

beforeEach(async () => {
  await openConsole()
})

test('Delete removes nothing while plants are still being selected', async () => {
  await person.focus(labels.table)
  await browser().driver.keys([['Control', 'a'], ['Delete']])
  await person.find(
    labels.text('Nothing was deleted: the plants are still being selected'),
    labels.selected('All 50,000 selected'),
  )
  expect(await daemon.metric('plantstore_plants')).toBe(PLANTS)
})

test('thousands of plants are selected, deleted and restored at once by Undo', async () => {
  await person.fill(labels.search, 'ash')
  await person.press('Enter')
  await person.find(labels.text('10,000 plants found; accents and word order ignored'))
  await person.focus(labels.table)
  await person.press('Control+a')
  await person.find(labels.selected('All 10,000 selected'))
  await person.click(labels.deleteAll)
  await person.lose(labels.row('3'))
  await person.find(labels.text('Deleted 10,000 plants; Ctrl+Z undoes it'))
  await person.click(labels.control('Undo the deletion of 10,000 plants'))
  await person.find(labels.cell('3', 'ash 23757'))
  const isWhole = async () => (await daemon.metric('plantstore_plants')) === PLANTS
  await until('the whole file', isWhole)
})
