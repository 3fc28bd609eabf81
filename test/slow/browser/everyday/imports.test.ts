// Files into the console and out of it, in each browser: `bun run test:browser`.
import { beforeEach, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unzipSync, zipSync } from 'fflate'
import { readWorkbook } from '../../../../src/formats/workbook/workbook'
import { inlineText, packed } from '../../../formats/workbook'
import { TOKEN } from '../../../harness/daemon'
import { ownDaemon } from '../../../harness/own-daemon'
import { ownPages } from '../../../harness/own-pages'
import { storedPlants } from '../../../harness/plants'
import { until } from '../../../harness/until'
import { inEachBrowser } from './browsers'
import * as labels from './labels'

ownPages()
const { daemon, database, folder, removePlants } = ownDaemon()

const PLANTS = [
  { id: 1, name: 'Fern' },
  { id: 2, name: 'Ivy' },
]

await inEachBrowser((person, browser) => {
  beforeEach(async () => {
    await removePlants()
    await daemon.fetch('/plants/batch', { json: { plants: PLANTS } })
    await browser().driver.open(`${daemon.url}/#token=${TOKEN}`)
    await person.find(labels.row('1'), labels.row('2'))
  })

  test('rows that are copied are pasted onto the page', async () => {
    const { driver } = browser()
    await driver.evaluate(`(() => {
      const pre = document.body.appendChild(document.createElement('pre'))
      pre.textContent = 'id\\tname\\n8,5\\tno id\\n9\\tSage\\n'
      pre.tabIndex = 0
      pre.focus()
      getSelection().selectAllChildren(pre)
      return null
    })()`)
    await person.press('Control', 'c')
    await driver.evaluate('document.querySelector("body > pre").remove() ?? null')
    await person.press('Control', 'v')
    await person.find(labels.text('2 rows; 1 of them would be refused:'))
    await person.click(labels.control('Import 1 plant'))

    await person.find(labels.cell('9', 'Sage'))
    expect(storedPlants(database)).toHaveLength(3)
  })

  test('a workbook has the plants, and the columns of the table', async () => {
    await person.click(labels.exportMenu)
    await person.find(labels.text('Export all plants'))
    await person.click(labels.exportExcel)

    const file = join(browser().downloads, 'plants.xlsx')
    await until('the file', () => existsSync(file) && statSync(file).size > 0)
    const { rows } = await readWorkbook(await Bun.file(file).bytes(), null)
    const cells: unknown[] = []
    for await (const part of rows)
      for (const line of part) cells.push('cells' in line ? line.cells : line)
    expect(cells).toEqual([
      ['id', 'name', 'tag'],
      ['1', 'Fern'],
      ['2', 'Ivy'],
    ])
  })

  test('a workbook in which a letter has changed is refused', async () => {
    const rows = ['name', 'Moss'].map((text) => `<row>${inlineText(text)}</row>`).join('')
    const bytes = Buffer.from(zipSync(unzipSync(packed(rows)), { level: 0 }))
    bytes.write('B', bytes.indexOf('Moss'))
    const file = folder.file('damaged.xlsx')
    await Bun.write(file, bytes)
    await person.chooseFile(labels.file, file)

    await person.find(labels.status('this cannot be read as a workbook: it is damaged'))
  })

  test('a long import is stopped, and completed when it is repeated', async () => {
    const file = folder.file('long.csv')
    const rows = Array.from({ length: 40_000 }, (_, at) => `${at + 10},plant ${at}\n`)
    await Bun.write(file, `id,name\n${rows.join('')}`)
    await person.chooseFile(labels.file, file)
    await person.find(labels.status('^Created [1-9]'))
    await person.click(labels.control('Stop'))
    await person.find(labels.status('^Stopped: created [1-9]'))
    const stopped = storedPlants(database).length
    await person.click(labels.control('Import it again'))
    await person.find(labels.status('^Done: created'))

    expect(stopped).toBeLessThan(40_002)
    expect(storedPlants(database)).toHaveLength(40_002)
  })
})
