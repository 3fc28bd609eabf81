// Long texts, and workbooks of many sheets, in the console, in a real Chromium: `bun run test:browser`.

import { expect, test } from 'bun:test'
import { utils, write } from '@e965/xlsx'
import type { Locator } from 'playwright-core'
import { openStore, ownBrowser } from './console-page'

// A limit far above what fits in a cell.
const SHOWN = 2000
const LONG = 'word '.repeat(100_000)

const browser = ownBrowser()

const lengthOf = (element: Locator): Promise<number> =>
  element.evaluate(({ textContent }) => textContent.length)

test('the table shows the beginning of a very long name', async () => {
  await using console = await openStore(browser, `{"id":1,"name":"${LONG}","tag":"${LONG}"}\n`)
  await console.row(1).waitFor()

  expect(await lengthOf(console.row(1))).toBeLessThan(3 * SHOWN)
  expect((await console.row(1).locator('.name').getAttribute('title'))?.length).toBeLessThan(SHOWN)
})

test('the preview of a file shows the beginning of a very long heading and cell', async () => {
  await using console = await openStore(browser)
  await console.chooseFile('plants.csv', `Nr,${LONG}\n7,${LONG}\n`)
  await console.field('Name').selectOption({ index: 2 })
  const cell = console.page.getByRole('dialog').locator('td bdi').first()
  await cell.waitFor()

  expect(await lengthOf(cell)).toBeLessThan(SHOWN)
  expect(await lengthOf(console.field('Name'))).toBeLessThan(3 * SHOWN)
  await console.button('Cancel').click()
  await console.isClean()
})

test('only the first sheets of a large workbook are searched for names', async () => {
  await using console = await openStore(browser)
  const { page } = console
  let threads = 0
  page.on('worker', () => {
    threads += 1
  })
  const book = utils.book_new()
  for (let sheet = 0; sheet < 40; sheet++) {
    utils.book_append_sheet(book, utils.aoa_to_sheet([['height'], [sheet]]), `Sheet ${sheet}`)
  }
  await console.chooseFile('sheets.xlsx', write(book, { type: 'buffer', bookType: 'xlsx' }))

  await console.field('Sheet').waitFor()
  expect(await console.field('Sheet').locator('option').count()).toBe(40)
  expect(threads).toBeLessThan(20)
  await console.button('Cancel').click()
  await console.isClean()
})
