// Imports and exports in the console, in a real Chromium: `bun run test:browser`.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readWorkbook } from '../../../src/formats/workbook/workbook'
import { inlineText, packed } from '../../formats/workbook'
import { root, runProgram } from '../../harness/daemon'
import { storedPlants } from '../../harness/plants'
import {
  type ConsolePage,
  MAX,
  MIN,
  openConsole,
  openStore as openOwnStore,
  ownBrowser,
} from './console-page'

const browser = ownBrowser()

const openStore = (lines?: string) => openOwnStore(browser, lines)

const panelOf = ({ page }: ConsolePage) => page.getByRole('region', { name: 'Import' })

const fileField = ({ page }: ConsolePage) => page.getByLabel('File to import', { exact: true })

/** Finds the dialog about a file before its import. */
const previewOf = ({ page }: ConsolePage) => page.getByRole('dialog', { name: /^Import / })

/** Finds the button that starts the import, once the rows are counted. */
const startButton = ({ page }: ConsolePage) =>
  page.getByRole('button', { name: /^Import [\d,]+ plants?$/ })

/** Accepts the guess about a file, and imports it. */
async function accept(console: ConsolePage): Promise<void> {
  await previewOf(console).locator('td').first().waitFor()
  await startButton(console).click()
}

/** Returns the refused lines that the panel shows. */
const refusedLines = (console: ConsolePage): Promise<string[]> =>
  panelOf(console).getByRole('listitem').allTextContents()

test('an import starts with a file dropped anywhere on the page, and shows a bar', async () => {
  await using console = await openStore()
  const text = Array.from({ length: 30_000 }, (_, i) => `{"id":${i},"name":"dropped ${i}"}\n`)
  const data = await console.page.evaluateHandle((content) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([content], 'dropped.ndjson'))
    return transfer
  }, text.join(''))
  const page = console.page.locator('.page')
  await page.dispatchEvent('dragover', { dataTransfer: data })
  await console.page.getByText('Drop to import').waitFor()
  await page.dispatchEvent('drop', { dataTransfer: data })

  const bar = console.page.getByRole('progressbar', { name: 'Import of dropped.ndjson' })
  await bar.waitFor()
  await panelOf(console).getByText('Done: created 30,000, refused 0; 30,000 rows read').waitFor()
  expect(await bar.evaluate((element) => (element as HTMLProgressElement).position)).toBe(1)
  expect(storedPlants(console.database).length).toBe(30_000)
  await console.isClean()
})

const realWorld = join(root, 'test/real-world')

test('a file to import is read in the encoding that the thread detects', async () => {
  await using console = await openStore()
  const { database } = console
  const bytes = Buffer.from('id,name\n1,D\xb9b\n2,\xafywotnik\n', 'latin1')
  await console.chooseFile('polish.csv', bytes)
  const preview = previewOf(console)
  await preview.getByRole('cell', { name: 'Dąb' }).waitFor()
  expect(await preview.getByLabel('Encoding', { exact: true }).inputValue()).toBe('windows-1250')
  await preview.getByRole('button', { name: 'Import 2 plants' }).click()
  await panelOf(console)
    .getByText(/^Done: created 2/)
    .waitFor()
  expect(storedPlants(database).map(({ name }) => name)).toEqual(['Dąb', 'Żywotnik'])
  await console.isClean()
})

test('a title row, several lists or a name in two columns is explained in the form', async () => {
  await using console = await openStore()
  const { database } = console
  const preview = previewOf(console)
  const field = (name: string) => preview.getByLabel(name, { exact: true })
  await console.chooseFile(
    'genera.csv',
    'List of 2026\nNo,Genus,Species,Bed\n1,Rosa,canina,x\n2,Acer,,y\n',
  )
  await preview.getByRole('cell', { name: 'Rosa canina' }).waitFor()
  expect(await field('Header row').inputValue()).toBe('2')
  await field('Header row').fill('9')
  await field('Header row').press('Tab')
  await preview.getByText('This does not work: no row 9').waitFor()
  await field('Header row').fill('2')
  await field('Header row').press('Tab')
  await field('Name, part 2').selectOption('Bed')
  await preview.getByRole('cell', { name: 'Rosa x' }).waitFor()
  await field('Name, part 2').selectOption('Species')
  await console.button('Import 2 plants').click()
  await panelOf(console).getByText('Done: created 2').waitFor()

  const beds = '{"sun":[{"id":21,"name":"Sage"}],"shade":[{"id":22,"name":"Fern"}]}'
  await console.chooseFile('beds.json', beds)
  await preview.getByText('2 rows', { exact: true }).waitFor()
  await field('List').selectOption('shade')
  await console.button('Import 1 plant').click()
  await panelOf(console).getByText('Done: created 1').waitFor()
  expect(storedPlants(database).map(({ name }) => name)).toEqual(['Rosa canina', 'Acer', 'Fern'])
  await console.isClean()
})

test('a file to import can replace plants even if it could not be compared, which is shown', async () => {
  await using console = await openStore('{"id":1,"name":"Fern"}\n{"id":2,"name":"Ivy"}\n')
  const { database } = console
  const preview = previewOf(console)
  await console.page.route(/\/plants\?(.*&)?limit=1000/, (route) =>
    route.fulfill({ status: 500, json: { error: 50001, message: 'unexpected error' } }),
  )
  await console.chooseFile('today.csv', 'Id,Latin name\n1,Fern\n2,Hedera\n')
  await preview
    .getByText('Not compared with the stored plants: they are too many, or unreadable.')
    .waitFor()
  await preview.getByText('Otherwise refused: the stored plants stay as they are.').waitFor()
  expect(await console.barriers()).toEqual([])
  await preview.getByLabel('Replace the plants that differ').check()
  await startButton(console).click()

  await panelOf(console)
    .getByText(/^Done: created 0, skipped 1 .*, replaced 1, refused 0/)
    .waitFor()
  expect(storedPlants(database)[1]).toEqual({ id: 2n, name: 'Hedera', tag: null })
})

test('a file is imported on a phone with the keyboard alone', async () => {
  await using store = await openStore()
  const viewport = { width: 390, height: 800 }
  await using console = await openConsole(browser, store.daemon.url, { viewport })
  const { page } = console
  await fileField(console).setInputFiles(join(realWorld, 'no-id.csv'))
  await previewOf(console).locator('td').first().waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThan(391)
  expect(await console.barriers()).toEqual([])

  // Tab moves from the heading to the id and to the name, whose second column is chosen by its first letter.
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('d')
  await page.getByRole('cell', { name: 'klimop' }).waitFor()
  // Tab past the tag and the second part of the name.
  for (let tabs = 0; tabs < 3; tabs++) await page.keyboard.press('Tab')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('30')
  await page.getByRole('cell', { name: '30' }).waitFor()
  await page.keyboard.press('Enter')

  await panelOf(console).getByText('Done: created 1, refused 0; 1 row read').waitFor()
  expect(storedPlants(store.database)).toEqual([{ id: 30n, name: 'klimop', tag: null }])
  await console.isClean()
})

test('refused rows are saved, ready to be fixed and imported', async () => {
  await using console = await openStore()
  const { database } = console
  await console.chooseFile('mine.csv', 'Nr;Latin\n1;Fern\nx2;"a, ""b"""\n3;Ivy\nx4;Oak\n')
  await previewOf(console).getByLabel('ID', { exact: true }).selectOption('Nr')
  await previewOf(console).getByText('4 rows; 2 of them would be refused:').waitFor()
  await accept(console)
  await panelOf(console).getByText('Done: created 2, refused 2; 4 rows read').waitFor()
  expect(await refusedLines(console)).toEqual([
    expect.stringMatching(/^2 rows: the ID is not a whole number; .* \(x2, x4\); lines 3, 5$/),
  ])
  const [download] = await Promise.all([
    console.page.waitForEvent('download'),
    console.button('Save the refused rows').click(),
  ])

  expect(download.suggestedFilename()).toBe('mine-refused.csv')
  const text = readFileSync(await download.path(), 'utf8')
  expect(text).toStartWith('Nr,Latin,reason\nx2,"a, ""b""","id: ""x2"" is not a whole number')
  await console.chooseFile('mended.csv', text.replace('x2', '2').replace('\nx4', '\n4'))
  await accept(console)
  await panelOf(console).getByText('Done: created 2, refused 0; 2 rows read').waitFor()
  expect(storedPlants(database)[1]).toEqual({ id: 2n, name: 'a, "b"', tag: null })
  await console.isClean()
})

/** Returns a workbook with `rows` rows of ids and names. */
function workbook(rows: number): Uint8Array {
  const row = (id: number) => `<row><c><v>${id}</v></c>${inlineText(`Plant ${id}`)}</row>`
  const all = Array.from({ length: rows }, (_, index) => row(index + 1)).join('')
  return packed(`<row>${inlineText('id')}${inlineText('name')}</row>${all}`)
}

describe('a workbook', () => {
  test('has the only Trusted Types policy, which is created before it is needed', async () => {
    await using console = await openStore()
    const refusals = await console.page.evaluate(() => {
      const { trustedTypes } = globalThis as unknown as {
        trustedTypes: { createPolicy(name: string, rules: object): unknown }
      }
      return [
        () => trustedTypes.createPolicy('workbook', {}),
        () => trustedTypes.createPolicy('other', {}),
        () => new Worker('/console/workbook-worker.js'),
      ].map((attempt) => {
        try {
          attempt()
          return null
        } catch (error) {
          return (error as Error).name
        }
      })
    })
    expect(refusals).toEqual(['TypeError', 'TypeError', 'TypeError'])
  })

  test('with 50,000 rows is read in a thread, which then ends', async () => {
    await using console = await openStore()
    const { folder } = console
    const path = folder.file('large.xlsx')
    await Bun.write(path, workbook(50_000))
    const isWorker = (url: string) => url.endsWith('/workbook-worker.js')
    expect(console.requests().some(isWorker)).toBeFalse()
    const started = console.page.waitForEvent('worker')
    await fileField(console).setInputFiles(path)

    const done = panelOf(console).getByText('Done: created 50,000, refused 0; 50,000 rows read')
    await done.waitFor({ timeout: 100_000 })
    expect((await started).url()).toEndWith('/console/workbook-worker.js')
    expect(console.page.workers()).toEqual([])
    await console.isClean()
  }, 120_000)
})

const content = [
  `{"id":${MIN},"name":"first","tag":""}`,
  ...Array.from({ length: 2200 }, (_, i) => `{"id":${i},"name":"plant ${i}","tag":"t${i % 2}"}`),
  '{"id":5000,"name":"a, \\"b\\"\\nc","tag":" x "}',
  `{"id":${MAX},"name":"🌵 نبتة"}`,
  '',
].join('\n')

/** Returns the output of the export command. */
async function exported(database: string, format: string, ...more: string[]): Promise<string> {
  const args = ['export', '--format', format, '--database', database, ...more]
  const { out } = await runProgram(args)
  return out
}

describe('an export', () => {
  test.each(['ndjson', 'csv'])('writes %s like the command, byte for byte', async (format) => {
    await using console = await openStore(content)
    const { database } = console
    const [download] = await Promise.all([
      console.page.waitForEvent('download'),
      console.export(format === 'csv' ? 'CSV' : 'NDJSON'),
    ])

    expect(download.suggestedFilename()).toBe(`plants.${format}`)
    expect(readFileSync(await download.path(), 'utf8')).toBe(await exported(database, format))
    await console.page.getByText('Exported 2,203 plants').waitFor()
    await console.isClean()
  })

  test('writes a workbook of 50,000 plants in a thread', async () => {
    const line = (id: number) => `{"id":${id},"name":"plant ${id}","tag":"tag ${id % 50}"}\n`
    await using console = await openStore(
      Array.from({ length: 50_000 }, (_, id) => line(id)).join(''),
    )
    const { page } = console
    await console.button('Export').click()
    await page.getByText('Export all plants', { exact: true }).waitFor()
    await page.getByText('50,000 plants', { exact: true }).waitFor()
    const started = page.waitForEvent('worker')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      console.button('Excel').click(),
    ])

    await page.getByText('Exported 50,000 plants').waitFor()
    expect((await started).url()).toEndWith('/console/workbook-worker.js')
    expect(page.workers()).toEqual([])
    const { rows } = await readWorkbook(await Bun.file(await download.path()).bytes(), null)
    let count = 0
    for await (const part of rows) count += part.length
    expect(count).toBe(50_001)
    await console.isClean()
  }, 120_000)

  test('can be stopped while it writes a workbook', async () => {
    await using console = await openStore(content)
    const { page } = console
    // A thread that never responds.
    await page.route('**/workbook-worker.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'onmessage = () => {}' }),
    )
    const started = page.waitForEvent('worker')
    await console.export('Excel')
    const ended = (await started).waitForEvent('close')
    await console.button('Stop the export (2,203)').click()
    await page.getByText('The export was stopped').waitFor()
    await ended
    await console.isClean()
  })
})
