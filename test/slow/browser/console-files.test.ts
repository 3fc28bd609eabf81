// Files into the console and out of it, in a real Chromium: `bun run test:browser`.
import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'
import { storedPlants } from '../../harness/plants'
import { type ConsolePage, MAX, MIN, openConsole, startChromium } from './console-page'

const browser = await startChromium()

/** A daemon on a store of its own, and the console of it. */
async function openStore(content = '') {
  const folder = temporaryFolder()
  const database = folder.file('plants.db')
  const args = ['import', '-', '--format', 'ndjson', '--database', database]
  await runProgram(args, { stdin: content })
  const daemon = await startDaemon({ database })
  const console = await openConsole(browser, daemon.url)
  return {
    folder,
    database,
    daemon,
    console,
    async [Symbol.asyncDispose]() {
      await console.close()
      await daemon.kill()
      folder[Symbol.dispose]()
    },
  }
}

const panelOf = ({ page }: ConsolePage) => page.getByRole('region', { name: 'Import' })

const fileField = ({ page }: ConsolePage) => page.getByLabel('File to import', { exact: true })

const NAMES: Readonly<Record<string, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
}

async function importFile(console: ConsolePage, name: string, text: string | Buffer) {
  const mimeType = NAMES[name.split('.').at(-1) ?? ''] ?? 'text/plain'
  const buffer = Buffer.from(text)
  await fileField(console).setInputFiles({ name, mimeType, buffer })
}

/** What is asked about a file before its import. */
const previewOf = ({ page }: ConsolePage) => page.getByRole('dialog', { name: /^Import / })

/** Imports a file that does not fit, as the guess has it. */
async function accept(console: ConsolePage): Promise<void> {
  await previewOf(console).locator('td').first().waitFor()
  await console.button('Import').click()
}

/** The lines that the panel says were refused. */
const refusedLines = (console: ConsolePage): Promise<string[]> =>
  panelOf(console).getByRole('listitem').allTextContents()

describe('an import', () => {
  test('creates every plant of NDJSON with its exact id, and lists the refused lines', async () => {
    await using store = await openStore(
      '{"id":5,"name":"other"}\n{"id":6,"name":"same","tag":"t"}\n',
    )
    const { console, database } = store
    const good = Array.from({ length: 2500 }, (_, i) => `{"id":${i + 100},"name":"plant ${i}"}`)
    const lines = [
      `{"id":${MIN},"name":"first"}`,
      '{"id":5,"name":"this id is taken"}',
      '',
      '{"id":6,"name":"same","tag":"t"}',
      'no JSON',
      '{"id":"7","name":"a number as a text"}',
      '{"id":7.5,"name":"half"}',
      '{"name":"without an id"}',
      '{"id":8}',
      '{"id":9,"name":"U+0000 \\u0000"}',
      '{"id":9223372036854775808,"name":"beyond int64"}',
      ...good,
      `{"id":${MAX},"name":"last 🌵"}`,
    ]
    await importFile(console, 'plants.ndjson', `\ufeff${lines.join('\r\n')}`)

    await accept(console)
    await panelOf(console)
      .getByText('Done: created 2,503, skipped 1 (already stored), refused 7; 2,511 rows read')
      .waitFor()
    const rule = `id: expected an integer from ${MIN} to ${MAX}`
    const refused = await refusedLines(console)
    expect(refused).toEqual([
      'line 2 id 5 belongs to a different plant',
      'line 5 not JSON',
      `line 7 ${rule}`,
      'line 8 id is missing',
      'line 9 name is missing',
      'line 10 name: expected a string without U+0000 and without unpaired surrogates',
      `line 11 ${rule}`,
    ])
    const all = storedPlants(database)
    expect(all.length).toBe(2505)
    expect([all[0]?.id, all.at(-1)?.id]).toEqual([BigInt(MIN), BigInt(MAX)])
    expect(all.at(-1)?.name).toBe('last 🌵')
    await console.row(MIN).waitFor()
    await console.isClean()
  })

  const csv = [
    'Name,ID,tag,note',
    'plain,1,,x',
    '"with ""quotes"", commas",2,"",x',
    '"two\nlines",3,tag,x',
    'few,4',
    'not a number,four,,x',
    '',
    `last,${MAX},نبات,x`,
    '"stray" quote,5,,x',
    'too many,7,,x,y',
    'inner "quote,6,,x',
  ].join('\r\n')

  test('reads CSV as the command does: the same plants, the same refused lines', async () => {
    await using store = await openStore()
    const { console, database, folder } = store
    const file = folder.file('plants.csv')
    await Bun.write(file, csv)
    mkdirSync(folder.file('other'))
    const other = folder.file('other/plants.db')
    const { err } = await runProgram(['import', file, '--database', other])

    await importFile(console, 'plants.csv', csv)
    await accept(console)
    await panelOf(console).getByText('Done: created 6, refused 3; 9 rows read').waitFor()
    await panelOf(console).getByText('columns not used: "note"').waitFor()

    expect(storedPlants(database)).toEqual(storedPlants(other))
    const ofCommand = [...err.matchAll(/^(line \d+): (.*)$/gm)].map(
      ([, line, it]) => `${line} ${it}`,
    )
    expect(ofCommand.length).toBe(3)
    expect(await refusedLines(console)).toEqual(ofCommand)
    await console.isClean()
  })

  test.each([
    ['semicolons', 'plants.csv', '\ufeffId;Name ;Tag\r\n1;"a;b";x\r\n2;c,d;\r\n'],
    ['tabs', 'plants.tsv', 'id\tname\ttag\n1\ta;b\tx\n2\tc,d\t\n'],
    ['UTF-16', 'plants.csv', Buffer.from('\ufeffid,name,tag\n1,a;b,x\n2,"c,d",\n', 'utf16le')],
  ])('reads what spreadsheets write: %s', async (_, name, content) => {
    await using store = await openStore()
    await importFile(store.console, name, content)

    await panelOf(store.console).getByText('Done: created 2, refused 0; 2 rows read').waitFor()
    expect(storedPlants(store.database)).toEqual([
      { id: 1n, name: 'a;b', tag: 'x' },
      { id: 2n, name: 'c,d', tag: null },
    ])
    await store.console.isClean()
  })

  test.each([
    ['plants.xlsx', 'id,name', 'this is not an Excel workbook (.xlsx); rename it to .csv if it is'],
    [
      'plants.xls',
      '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
      'this is an old or a protected Excel workbook',
    ],
    ['plants.csv', '\x89PNG\r\n', 'this is a picture, not a table'],
    ['plants.csv', '', 'the file is empty'],
  ])('of %s that holds something else says so', async (name, content, reason) => {
    await using store = await openStore()
    await importFile(store.console, name, Buffer.from(content, 'latin1'))

    await panelOf(store.console).getByText(`Failed: ${reason}`).waitFor()
    expect(storedPlants(store.database)).toEqual([])
    await store.console.button('Close').click()
    await store.console.isClean()
  })

  test('of a file that is dropped anywhere on the page shows a bar', async () => {
    await using store = await openStore()
    const { console } = store
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
    expect(await bar.evaluate((it) => (it as HTMLProgressElement).position)).toBe(1)
    expect(storedPlants(store.database).length).toBe(30_000)
    await console.isClean()
  })

  test('of several files says how each ended', async () => {
    await using store = await openStore()
    const { console } = store
    await fileField(console).setInputFiles(
      [
        { name: 'first.ndjson', content: '{"id":1,"name":"Fern"}' },
        { name: 'second.csv', content: '%PDF-1.7' },
        { name: 'third.ndjson', content: '{"id":1,"name":"Rose"}' },
      ].map(({ name, content }) => ({
        name,
        mimeType: 'text/plain',
        buffer: Buffer.from(content),
      })),
    )
    await panelOf(console).getByText('Done: created 0, refused 1; 1 row read').waitFor()
    const before = panelOf(console).getByRole('list', { name: 'Files before it' })
    expect(await before.getByRole('listitem').allTextContents()).toEqual([
      'first.ndjson Done: created 1, refused 0; 1 row read',
      expect.stringMatching(/^second\.csv Failed: this is a PDF/),
    ])
    expect(await console.barriers()).toEqual([])
    await console.isClean()
  })

  test('that is stopped keeps what it created, and completes when it is repeated', async () => {
    await using store = await openStore()
    const { console } = store
    const text = Array.from({ length: 60_000 }, (_, i) => `{"id":${i},"name":"plant ${i}"}\n`).join(
      '',
    )
    await importFile(console, 'plants.ndjson', text)
    await console.page.waitForFunction(() =>
      /created [1-9]\d*,000/.test(document.querySelector('.import')?.textContent ?? ''),
    )
    await console.button('Stop').click()
    await panelOf(console).getByText('Stopped: ').waitFor()
    const before = storedPlants(store.database).length
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(60_000)

    await console.button('Import it again').click()
    await panelOf(console).getByText('Done: ').waitFor()
    expect(storedPlants(store.database).length).toBe(60_000)
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

/** What the command exports of a store. */
async function exported(database: string, format: string, ...more: string[]): Promise<string> {
  const args = ['export', '--format', format, '--database', database, ...more]
  const { out } = await runProgram(args)
  return out
}

describe('an export', () => {
  test.each(['ndjson', 'csv'])(
    'of %s is what the command writes, byte for byte',
    async (format) => {
      await using store = await openStore(content)
      const { console, database } = store
      await console.page.evaluate(() => {
        delete window.showSaveFilePicker
      })
      const [download] = await Promise.all([
        console.page.waitForEvent('download'),
        console.export(format === 'csv' ? 'CSV' : 'NDJSON'),
      ])

      expect(download.suggestedFilename()).toBe(`plants.${format}`)
      expect(readFileSync(await download.path(), 'utf8')).toBe(await exported(database, format))
      await console.page.getByText('Exported 2,203 plants').waitFor()
      await console.isClean()
    },
  )

  test('is streamed to a file where the browser can write one', async () => {
    await using store = await openStore(content)
    const { console, database } = store
    // Nobody is there to choose a file: the browser's own, which no window asks for, is chosen.
    await console.page.evaluate(() => {
      window.showSaveFilePicker = async ({ suggestedName }) => {
        const folder = await navigator.storage.getDirectory()
        return folder.getFileHandle(suggestedName, { create: true })
      }
    })
    await console.export('NDJSON')
    await console.page.getByText('Exported 2,203 plants').waitFor()
    const written = await console.page.evaluate(async () => {
      const folder = await navigator.storage.getDirectory()
      return (await (await folder.getFileHandle('plants.ndjson')).getFile()).text()
    })

    expect(written).toBe(await exported(database, 'ndjson'))
    await console.isClean()
  })

  test('of a plant that was found has that plant alone', async () => {
    await using store = await openStore(content)
    const { console } = store
    await console.page.evaluate(() => {
      delete window.showSaveFilePicker
    })
    await console.search('7')
    await console.page.getByText('The plant with this ID').waitFor()
    const [download] = await Promise.all([
      console.page.waitForEvent('download'),
      console.export('NDJSON'),
    ])

    expect(readFileSync(await download.path(), 'utf8')).toBe(
      '{"id":7,"name":"plant 7","tag":"t1"}\n',
    )
    await console.page.getByText('Exported 1 plant', { exact: true }).waitFor()
  })

  test('without formulas is what the command writes with --escape-formulas', async () => {
    await using store = await openStore(
      '{"id":1,"name":"=1+1","tag":"@x"}\n{"id":2,"name":"Rose"}\n',
    )
    const { console, database } = store
    await console.page.evaluate(() => {
      delete window.showSaveFilePicker
    })
    const [download] = await Promise.all([
      console.page.waitForEvent('download'),
      console.export('CSV without formulas'),
    ])

    const text = readFileSync(await download.path(), 'utf8')
    expect(download.suggestedFilename()).toBe('plants.csv')
    expect(text).toContain("'=1+1")
    expect(text).toBe(await exported(database, 'csv', '--escape-formulas'))
  })

  test('of a tag has the plants of the tag', async () => {
    await using store = await openStore(content)
    const { console } = store
    await console.page.evaluate(() => {
      delete window.showSaveFilePicker
    })
    await console.search('tag:t1')
    await console.row(1).waitFor()
    const [download] = await Promise.all([
      console.page.waitForEvent('download'),
      console.export('CSV'),
    ])
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')

    expect(lines.length).toBe(1 + 1100)
    expect(lines.slice(1).every((line) => line.endsWith(',t1'))).toBeTrue()
  })
})
