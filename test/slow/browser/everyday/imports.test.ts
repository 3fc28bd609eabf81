// Files into the console and out of it, in each browser: `bun run test:browser`.
import { beforeEach, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readWorkbook } from '../../../../src/formats/workbook/workbook'
import { until } from '../../../harness/until'
import { inEachBrowser, ownStore } from './browsers'
import * as labels from './labels'

const { daemon, plants, folder, replacePlants } = ownStore()

const PLANTS = [
  { id: 1, name: 'Fern' },
  { id: 2, name: 'Ivy' },
]

await inEachBrowser((person, browser) => {
  beforeEach(async () => {
    await replacePlants(PLANTS)
    await person.connect(daemon.url)
    await person.find(labels.row('1'), labels.row('2'))
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

  test('a long import is stopped, and completed when it is repeated', async () => {
    const file = folder.file('long.csv')
    const rows = Array.from({ length: 40_000 }, (_, at) => `${at + 10},plant ${at}\n`)
    await Bun.write(file, `id,name\n${rows.join('')}`)
    await person.chooseFile(labels.file, file)
    await person.find(labels.status('^Created [1-9]'))
    await person.click(labels.control('Stop'))
    await person.find(labels.status('^Stopped: created [1-9]'))
    const stopped = plants().length
    await person.click(labels.control('Import it again'))
    await person.find(labels.status('^Done: created'))

    expect(stopped).toBeLessThan(40_002)
    expect(plants()).toHaveLength(40_002)
  })
})
