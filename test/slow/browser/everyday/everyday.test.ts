// Everyday tasks in the console: `bun run test:browser`.
import { beforeEach, expect } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readWorkbook } from '../../../../src/formats/workbook/workbook'
import { root, TOKEN } from '../../../harness/daemon'
import { until } from '../../../harness/until'
import { ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, stored, person, browser, openWith } = ownTasks()

const PLANTS = [
  { id: -7, name: 'Boston fern', tag: 'fern' },
  { id: 1, name: 'Monstera deliciosa', tag: 'aroid' },
  { id: 2, name: 'Swiss cheese vine', tag: 'aroid' },
  { id: 3, name: 'Staghorn fern', tag: 'fern' },
  { id: 4, name: 'Snake plant' },
]
const LARGEST = '9223372036854775807'

beforeEach(async () => {
  await openWith(PLANTS)
})

test('a person connects with a token, and sees every plant', async () => {
  await person.open('about:blank')
  await person.open(daemon.url)
  await person.fill(labels.token, TOKEN)
  await person.click(labels.control('Connect'))
  await person.find(
    ...PLANTS.map(({ id, name }) => labels.cell(String(id), name)),
    labels.cell('1', 'aroid'),
  )
})

test('a person adds a plant with the largest id, and text of any kind', async () => {
  await person.click(labels.control('Add plant'))
  await person.fill(labels.id, LARGEST)
  await person.fill(labels.name, 'Rose "été" <b> אזוב')
  await person.fill(labels.tag, 'new & old')
  await person.click(labels.control('Add'))

  await person.find(labels.cell(LARGEST, 'Rose "été" <b> אזוב'), labels.cell(LARGEST, 'new & old'))
  expect(stored(BigInt(LARGEST))).toMatchObject({
    name: 'Rose "été" <b> אזוב',
    tag: 'new & old',
  })
})

test('a person edits a plant', async () => {
  await person.hover(labels.row('4'))
  await person.click(labels.control('Edit plant 4'))
  await person.fill(labels.name, 'Sansevieria')
  await person.fill(labels.tag, 'succulent')
  await person.click(labels.control('Save'))

  await person.find(labels.cell('4', 'Sansevieria'), labels.cell('4', 'succulent'))
  // The tag is shown at once, and saved in the background.
  await until('the tag', () => stored(4n)?.tag === 'succulent')
  expect(stored(4n)).toMatchObject({ name: 'Sansevieria', tag: 'succulent' })
})

test('a person searches by a part of a name, and returns to all', async () => {
  await person.fill(labels.search, 'FERN')
  await person.press('Enter')
  await person.lose(labels.row('1'), labels.row('2'), labels.row('4'))
  await person.find(labels.row('-7'), labels.row('3'))

  await person.click(labels.showAll)
  await person.find(labels.row('1'), labels.row('4'))
})

test('a person imports a workbook with one more click', async () => {
  await person.chooseFile(labels.file, join(root, 'test/real-world/title-row.xlsx'))
  await person.click(labels.startImport)

  await person.find(labels.cell('11', 'Lamium album'), labels.cell('12', 'tree'))
})

test('a person exports the plants shown to a CSV file', async () => {
  await person.click(labels.tagOf('3', 'fern'))
  await person.lose(labels.row('1'))
  await person.click(labels.exportMenu)
  await person.click(labels.control('CSV'))

  const file = join(browser().downloads, 'plants.csv')
  const expected = 'id,name,tag\n-7,Boston fern,fern\n3,Staghorn fern,fern\n'
  const isWhole = () => existsSync(file) && statSync(file).size >= expected.length
  await until('the whole file', isWhole)
  expect(readFileSync(file, 'utf8')).toBe(expected)
})

test('a person exports all plants to a workbook, with the columns of the table', async () => {
  await person.click(labels.exportMenu)
  await person.find(labels.text('Export all plants'))
  await person.click(labels.control('Excel'))

  const file = join(browser().downloads, 'plants.xlsx')
  await until('the file', () => existsSync(file) && statSync(file).size > 0)
  const { rows } = await readWorkbook(await Bun.file(file).bytes(), null)
  const cells: unknown[] = []
  for await (const part of rows)
    for (const line of part) cells.push('cells' in line ? line.cells : line)
  expect(cells).toEqual([
    ['id', 'name', 'tag'],
    ...PLANTS.map(({ id, ...texts }) => [String(id), ...Object.values(texts)]),
  ])
})
