// Imports files of plants in batches. A refused batch is split until only the plants at fault are left out.

import { signal } from '@preact/signals'
import { type BatchOutcome, ClientError, type NewPlant, type Result } from '../../client/client.ts'
import { OpenError } from '../../errors.ts'
import { resolveColumns } from '../../formats/columns.ts'
import { type Format, formatToRead } from '../../formats/format.ts'
import { grouped, readPlants } from '../../formats/plants.ts'
import type { Entry } from '../../formats/row.ts'
import { openTable } from '../../formats/table.ts'
import { createBatch, explainRefusal } from './batch.ts'
import type { Session } from './session.ts'

/** How many refused lines are kept. */
const REFUSED_KEPT = 1000

const USUAL = { idColumn: null, nameColumn: null, tagColumn: null, numberFrom: null }
const WORDS = { numbering: 'the choice "Number the rows"' }

export type Refused = { readonly line: number; readonly problem: string }

export type Import = {
  readonly name: string
  readonly bytes: number
  readonly bytesRead: number
  readonly created: number
  /** Already stored, with the same fields. */
  readonly known: number
  readonly refused: number
  /** What to know about the file as a whole, such as columns that were not used. */
  readonly notice?: string
  /** The first refused lines. */
  readonly lines: readonly Refused[]
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  /** Why it failed. */
  readonly reason?: string
}

export type Importer = ReturnType<typeof createImporter>

/** The bytes of a file in parts; `onRead` gets the number of each. */
async function* bytesOf(file: Blob, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      onRead(part.value.byteLength)
      yield part.value
    }
  } finally {
    await reader.cancel()
  }
}

const IDLE = { created: 0, known: 0, refused: 0, bytesRead: 0, lines: [] }

export function createImporter(session: Session, onChange: () => void) {
  const current = signal<Import | null>(null)
  /** The files before it that were dropped or chosen together with it. */
  const earlier = signal<readonly Import[]>([])
  const waiting: File[] = []
  let last: File | undefined
  let abort = new AbortController()

  function update(change: (before: Import) => Partial<Import>): void {
    if (current.value) current.value = { ...current.value, ...change(current.value) }
  }

  function refuse(all: readonly Refused[]): void {
    update(({ refused, lines }) => ({
      refused: refused + all.length,
      lines: [...lines, ...all].slice(0, REFUSED_KEPT),
    }))
  }

  /** Creates plants, with retries: a plant that is sent twice counts as already stored. */
  const createPlants = <P extends NewPlant>(plants: readonly P[], signal: AbortSignal) =>
    session.persist(async (client): Promise<Result<BatchOutcome<P>>> => {
      try {
        return { ok: true, value: await createBatch(client, plants, signal) }
      } catch (error) {
        if (error instanceof ClientError) return error.failure
        throw error
      }
    }, signal)

  async function importGroup(group: readonly Entry[], signal: AbortSignal): Promise<void> {
    const problems: Refused[] = group.flatMap((it) => ('problem' in it ? [it] : []))
    const plants = group.flatMap((it) => ('plant' in it ? [{ ...it.plant, line: it.line }] : []))
    if (plants.length > 0) {
      const result = await createPlants(plants, signal)
      if (!result.ok) throw new ClientError(result)
      const { created, known, refused } = result.value
      update((it) => ({ created: it.created + created, known: it.known + known }))
      for (const { plant, failure } of refused) {
        problems.push({ line: plant.line, problem: explainRefusal(plant, failure.message) })
      }
    }
    if (problems.length > 0) refuse(problems.toSorted((a, b) => a.line - b.line))
  }

  async function importFile(file: File, format: Format): Promise<void> {
    const { signal } = abort
    current.value = { ...IDLE, name: file.name, bytes: file.size, state: 'running' }
    let bytesRead = 0
    const bytes = bytesOf(file, (count) => {
      bytesRead += count
    })
    try {
      const table = await openTable(format, bytes)
      const columns = resolveColumns(table.header, table.sample, USUAL, table.isNamed)
      const entries = readPlants(table, columns, WORDS, (notice) => update(() => ({ notice })))
      for await (const group of grouped(entries)) {
        if (signal.aborted) break
        await importGroup(group, signal)
        update(() => ({ bytesRead }))
      }
      update(() => ({ bytesRead, state: signal.aborted ? 'stopped' : 'done' }))
    } catch (error) {
      const isKnown = error instanceof OpenError || error instanceof ClientError
      const reason = isKnown ? error.message : 'the file cannot be read'
      update(() => (signal.aborted ? { state: 'stopped' } : { state: 'failed', reason }))
    }
    onChange()
  }

  async function next(): Promise<void> {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      if (current.value && last !== file) earlier.value = [...earlier.value, current.value]
      last = file
      const format = formatToRead(file.name)
      if (format) {
        await importFile(file, format)
        continue
      }
      const reason = 'unknown format; the name must end in .csv, .tsv, .xlsx, .json or .ndjson'
      current.value = { ...IDLE, name: file.name, bytes: file.size, state: 'failed', reason }
    }
  }

  return {
    current,
    earlier,

    /** Imports files, one after another. */
    async add(files: Iterable<File>): Promise<void> {
      waiting.push(...files)
      if (current.value?.state === 'running') return
      this.dismiss()
      abort = new AbortController()
      await next()
    },

    /** Stops, and cancels the current request. */
    stop(): void {
      waiting.length = 0
      abort.abort()
    },

    /** Imports the file again that failed or was stopped: what is stored already is not stored twice. */
    async retry(): Promise<void> {
      if (!last || current.value?.state === 'running') return
      waiting.unshift(last)
      abort = new AbortController()
      await next()
    },

    dismiss(): void {
      earlier.value = []
      current.value = null
    },
  }
}
