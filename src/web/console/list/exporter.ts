// Exports the plants of the table: streamed to a file where the browser can, otherwise built in memory.

import { signal } from '@preact/signals'
import { ClientError, type NewPlant } from '../../../client/client.ts'
import { writers } from '../../../formats/write.ts'
import { download } from '../controls/download.ts'
import { plantsOf } from '../counts.ts'
import type { Query } from '../query.ts'
import type { Session } from '../session.ts'

const PAGE_PLANTS = 1000

/** The name and the type of the file for each format. */
const FILES = {
  ndjson: ['plants.ndjson', 'application/x-ndjson'],
  csv: ['plants.csv', 'text/csv'],
  inert: ['plants.csv', 'text/csv'],
} as const satisfies Record<keyof typeof writers, readonly [name: string, type: string]>

/** The destination of an export. */
type Target = {
  write(text: string): Promise<void>
  close(): Promise<void>
  abort(): Promise<void>
}

declare global {
  interface Window {
    // Only in Chromium, on secure origins.
    showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>
  }
}

async function openPicked(picker: Promise<FileSystemFileHandle>): Promise<Target> {
  const stream = await (await picker).createWritable()
  return {
    write: (text) => stream.write(text),
    close: () => stream.close(),
    abort: () => stream.abort(),
  }
}

function openDownload(name: string, type: string): Target {
  const parts: Blob[] = []
  return {
    async write(text) {
      parts.push(new Blob([text]))
    },
    async close() {
      download(name, new Blob(parts, { type }))
    },
    async abort() {
      parts.length = 0
    },
  }
}

/** Finds the plants of a search by the page itself; null: the service lists them. */
type Found = (() => Promise<readonly NewPlant[]>) | null

/** The plants of an export, a page at a time. */
async function* pagesOf(
  session: Session,
  { id, ...limits }: Query,
  found: Found,
  signal: AbortSignal,
): AsyncGenerator<readonly NewPlant[]> {
  if (found) {
    const plants = await found()
    for (let at = 0; at < plants.length; at += PAGE_PLANTS) {
      yield plants.slice(at, at + PAGE_PLANTS)
      signal.throwIfAborted()
    }
    return
  }
  if (id !== undefined) {
    const plant = await session.persist((client) => client.readPlant(id, { signal }), signal)
    if (!plant.ok) throw new ClientError(plant)
    yield [plant.value]
    return
  }
  let after: string | undefined
  do {
    const query = { limit: PAGE_PLANTS, ...(after === undefined ? {} : { after }), ...limits }
    const page = await session.persist((client) => client.listPlants(query, { signal }), signal)
    if (!page.ok) throw new ClientError(page)
    yield page.value.plants
    after = page.value.next ?? undefined
  } while (after !== undefined)
}

export type Exporter = ReturnType<typeof createExporter>

export function createExporter(session: Session, announce: (text: string) => void) {
  /** The number of plants written so far; null if no export is running. */
  const written = signal<number | null>(null)
  let abort = new AbortController()

  async function write(
    target: Target,
    format: keyof typeof writers,
    query: Query,
    found: Found,
  ): Promise<void> {
    const { header, line } = writers[format]
    written.value = 0
    try {
      await target.write(header)
      for await (const plants of pagesOf(session, query, found, abort.signal)) {
        await target.write(plants.map(line).join(''))
        written.value += plants.length
      }
      await target.close()
      announce(`Exported ${plantsOf(written.value)}`)
    } catch (error) {
      await target.abort()
      const why = error instanceof Error ? error.message : String(error)
      announce(abort.signal.aborted ? 'The export was stopped' : `The export failed: ${why}`)
    } finally {
      written.value = null
    }
  }

  return {
    written,

    /** Writes the plants that a search finds, in order of id; `found` has them if the page itself searches. */
    async start(format: keyof typeof writers, query: Query, found: Found = null): Promise<void> {
      if (written.value !== null) return
      const [name, type] = FILES[format]
      abort = new AbortController()
      let target: Target
      try {
        const picker = window.showSaveFilePicker?.({ suggestedName: name })
        target = picker ? await openPicked(picker) : openDownload(name, type)
      } catch (error) {
        // The file dialog was cancelled.
        if (error instanceof DOMException && error.name === 'AbortError') return
        return announce(`The export failed: ${error instanceof Error ? error.message : error}`)
      }
      await write(target, format, query, found)
    },

    stop: (): void => abort.abort(),
  }
}
