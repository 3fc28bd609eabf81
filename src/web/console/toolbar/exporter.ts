// Exports the plants of the table as a download.

import { signal } from '@preact/signals'
import type { NewPlant } from '../../../client/client.ts'
import { messageOf } from '../../../errors.ts'
import { WRITERS } from '../../../formats/write.ts'
import { download } from '../controls/download.ts'
import { countPlants } from '../counts.ts'
import type { PlantList } from '../list/plant-list.ts'
import { PAGE_PLANTS, readPages } from '../list/plant-pages.ts'
import { openWorkbook } from '../workbooks/write-workbook.ts'
import { yieldToBrowser } from '../yield.ts'

/** The name and the type of the file for each format. */
const FILES = {
  xlsx: ['plants.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  csv: ['plants.csv', 'text/csv'],
  ndjson: ['plants.ndjson', 'application/x-ndjson'],
} as const

export type ExportFormat = keyof typeof FILES

type Part = string | Uint8Array<ArrayBuffer>

/** The contents of a file: its beginning, each page of plants, and its end. */
type Content = {
  readonly start: Part
  add(plants: readonly NewPlant[]): Part
  end(): Part | Promise<Part>
  close(): void
}

function openTextContent(format: 'csv' | 'ndjson'): Content {
  const { header, line } = WRITERS[format]
  const add = (plants: readonly NewPlant[]) => plants.map(line).join('')
  return { start: header, add, end: () => '', close() {} }
}

type Pages = AsyncIterable<readonly NewPlant[]>

async function* inPages(read: () => Promise<readonly NewPlant[]>): Pages {
  const plants = await read()
  for (let at = 0; at < plants.length; at += PAGE_PLANTS) yield plants.slice(at, at + PAGE_PLANTS)
}

/** Exports plants, one file at a time. */
export class Exporter {
  /** The number of plants read so far; null if no export is running. */
  readonly exportedCount = signal<number | null>(null)
  #abort = new AbortController()

  constructor(private readonly list: PlantList) {}

  /** Writes the ticked plants, or else all that the search finds, in the order of the table. */
  async start(format: ExportFormat, tickedPlants: readonly NewPlant[]): Promise<void> {
    if (this.exportedCount.value !== null) return
    const { session, query, rows, localResults } = this.list
    const read = tickedPlants.length > 0 ? async () => tickedPlants : localResults
    this.#abort = new AbortController()
    const pages = read
      ? inPages(read)
      : readPages(session, query.value, rows.isDescending, this.#abort.signal)
    await this.#write(format, pages)
  }

  readonly stop = (): void => this.#abort.abort()

  async #write(format: ExportFormat, pages: Pages): Promise<void> {
    const { signal } = this.#abort
    this.exportedCount.value = 0
    const content = format === 'xlsx' ? openWorkbook(signal) : openTextContent(format)
    const parts = [new Blob([content.start])]
    const pause = yieldToBrowser()
    try {
      for await (const plants of pages) {
        // Browsers keep large blobs on the disk.
        parts.push(new Blob([content.add(plants)]))
        this.exportedCount.value += plants.length
        await pause()
        signal.throwIfAborted()
      }
      parts.push(new Blob([await content.end()]))
      const [name, type] = FILES[format]
      download(name, new Blob(parts, { type }))
      this.list.announce(`Exported ${countPlants(this.exportedCount.value)}`)
    } catch (error) {
      this.list.announce(
        signal.aborted ? 'The export was stopped' : `The export failed: ${messageOf(error)}`,
      )
    } finally {
      content.close()
      this.exportedCount.value = null
    }
  }
}
