// The order and the tags of the console's table, in a real Chromium: `bun run test:browser`.
import { beforeAll, expect, test } from 'bun:test'
import { lines } from '../../harness/commands'
import { type ConsolePage, connect, MAX, openStore, ownConsole, PHONE } from './console-page'

const { daemon, browser, open } = ownConsole(['--keep-changes', '1d'])
const PLANTS = [
  ['Rose 10', 'flower'],
  ['Éclair fern', 'fern'],
  ['Rose 9', 'flower'],
  ['ash', undefined],
  ['Zinnia', 'flower'],
] as const
beforeAll(async () => {
  for (const [at, [name, tag]] of PLANTS.entries()) {
    await daemon.create(JSON.stringify({ id: at + 1, name, tag }))
  }
})
const BY_NAME = ['ash', 'Éclair fern', 'Rose 9', 'Rose 10', 'Zinnia']

const names = async (console: ConsolePage) => (await console.rows()).map(([, name]) => name)
const head = ({ page }: ConsolePage, name: string) => page.getByRole('columnheader', { name })
const press = (console: ConsolePage, name: string) =>
  head(console, name).getByRole('button').click()
const sortInAddress = ({ page }: ConsolePage) => new URL(page.url()).searchParams.get('sort')
/** Waits until the rows have these names. */
const showsNames = async (console: ConsolePage, wanted: readonly string[]): Promise<void> => {
  for (let tries = 0; tries < 100; tries++) {
    if (JSON.stringify(await names(console)) === JSON.stringify(wanted)) return
    await console.page.waitForTimeout(20)
  }
  expect(await names(console)).toEqual([...wanted])
}

test('on a phone one button offers the orders, and an id is beside its name', async () => {
  await using console = await open(PHONE)
  await console.row(1).waitFor()
  const middle = async (cell: string) => {
    const box = await console.row(1).locator(cell).boundingBox()
    return Number(box?.y) + Number(box?.height) / 2
  }
  expect(await middle('.id')).toBe(await middle('.name'))
  expect(await head(console, 'Name').count()).toBe(0)
  const order = async (now: string, wanted: string) => {
    await console.button(`Sorted by ${now}`).click()
    await console.button(wanted).click()
  }

  await order('ID', 'Name')
  await showsNames(console, BY_NAME)
  await order('Name', 'Name')
  await showsNames(console, BY_NAME.toReversed())
  await console.button('Sorted by Name').click()
  expect(await console.barriers()).toEqual([])
  await console.isClean()
})

test('a column head keeps the order in the URL: for back, a reload and a link', async () => {
  await using console = await open({ path: '/?sort=-name&q=tag%3Aflower' })
  const { page } = console
  await showsNames(console, ['Zinnia', 'Rose 10', 'Rose 9'])
  expect(await head(console, 'Name').getAttribute('aria-sort')).toBe('descending')
  expect(await head(console, 'ID').getAttribute('aria-sort')).toBeNull()
  expect(await console.barriers()).toEqual([])
  await press(console, 'ID')
  await showsNames(console, ['Rose 10', 'Rose 9', 'Zinnia'])
  expect(await head(console, 'ID').getAttribute('aria-sort')).toBe('ascending')
  expect(sortInAddress(console)).toBeNull()
  await page.goBack()
  await showsNames(console, ['Zinnia', 'Rose 10', 'Rose 9'])
  await page.reload()
  await connect(page)
  await showsNames(console, ['Zinnia', 'Rose 10', 'Rose 9'])
  expect(sortInAddress(console)).toBe('-name')
  await console.isClean()
})

test('more than 100,000 plants cannot be sorted or exported to a workbook, and the service counts their tags', async () => {
  const tagged = lines(0, 100_001)
    .split('\n')
    .map((line, at) => line.replace('}', `,"tag":"${at % 2 ? 'odd' : 'even'}"}`))
    .join('\n')
  await using console = await openStore(browser, tagged)
  const { page } = console
  await page.getByText('100,001 plants', { exact: true }).waitFor()
  const why = 'Sorting by name works up to 100,000 plants. Search for something first'
  const button = head(console, 'Name').getByRole('button')
  await page.waitForFunction(() => document.querySelector('.head [aria-disabled="true"]'))
  await button.click({ force: true })
  await page.getByText(why, { exact: true }).waitFor()
  expect(sortInAddress(console)).toBeNull()
  await page.getByRole('button', { name: 'Tags' }).click()
  const tags = page.getByRole('list', { name: 'Tags' }).getByRole('button')
  await tags.first().waitFor()
  expect(await tags.allTextContents()).toEqual(['even 50,001', 'odd 50,000'])
  await page.keyboard.press('Escape')
  await console.export('Excel')
  await page
    .getByText('The export failed: a workbook is written of up to 100,000 plants; export CSV', {
      exact: true,
    })
    .waitFor()
  expect(page.workers()).toEqual([])

  await console.search('plant 1000')
  await page.getByText('21 plants found; exact spelling only').waitFor()
  await press(console, 'Name')
  await page.waitForFunction(
    () => document.querySelector('.rows .row .name')?.textContent === 'plant 1000',
  )
  await console.isClean()
}, 120_000)

test('the next free id is proposed for a new plant, unless the largest is taken', async () => {
  await using console = await open()
  const { page } = console
  await console.button('Add plant').click()
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#id')?.value === '6')
  // A proposed id is not unsaved input: the dialog closes without a question.
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await daemon.create(`{"id":${MAX},"name":"The last"}`)
  await console.button('Add plant').click()
  await page.getByText('The largest number is taken.').waitFor()
  expect(await console.field('ID').inputValue()).toBe('')
  await daemon.fetch(`/plants/${MAX}`, { method: 'DELETE' })
  await console.isClean()
})
