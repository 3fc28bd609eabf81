// The questions before an import: encoding and format of the file, its columns, and a preview of the result.

import { computed, signal } from '@preact/signals'
import type { Settings } from '../../../formats/table.ts'
import { idAfter } from '../int64.ts'
import type { Session } from '../session.ts'
import { reasonOf } from './advice.ts'
import { type Analysis, analyze } from './analyze.ts'
import { type ColumnChoice, propose, toColumns } from './column-proposal.ts'
import { type Comparison, createComparison } from './compare.ts'
import { type DetectedFile, fileKey, type ImportInput, type Memory } from './detect-file.ts'
import { openFile, type ReadableFile } from './readable-file.ts'

/** The id after the largest one; '' if there is none, or it cannot be read. */
async function nextFreeId(session: Session): Promise<string> {
  const page = await session.call((client) => client.listPlants({ order: 'desc', limit: 1 }))
  return page.ok ? String(idAfter(page.value.plants.map(({ id }) => id)) ?? '') : ''
}

/** The settings that select other rows. */
const ROW_SETTINGS = ['sheet', 'headerRow', 'list'] as const

export type Preview = Awaited<ReturnType<typeof createPreview>>

/** Asks about a file. `decision` resolves to the input, or to null if the import was cancelled. */
export async function createPreview(detectedFile: DetectedFile, session: Session, memory: Memory) {
  const rememberedChoice = memory.get(detectedFile.kind)
  const isSameFile = rememberedChoice?.file === fileKey(detectedFile.file)
  const preview = createQuestions(detectedFile, session, memory, {
    ...detectedFile.proposal.columns,
    numberFrom: isSameFile ? rememberedChoice.columns.numberFrom : await nextFreeId(session),
  })
  const { readable, columns, read, choose } = preview
  if (!rememberedChoice) choose({})
  else {
    const { encoding } = detectedFile.settings
    await read({
      ...rememberedChoice.settings,
      encoding:
        encoding === null && !detectedFile.problem ? null : rememberedChoice.settings.encoding,
    })
    if (readable.value)
      choose({ ...rememberedChoice.columns, numberFrom: columns.value.numberFrom })
    // For example, this workbook may lack the remembered sheet.
    else await read(detectedFile.settings)
  }
  return { ...preview, isRemembered: rememberedChoice !== undefined }
}

/** The stored plants of all rows; null: they were not read, or not all. */
function comparisonOf(analysis: Analysis | null): Comparison | null {
  const comparison = analysis?.isWhole ? analysis.comparison : null
  return typeof comparison === 'string' ? null : comparison
}

function toInput(
  readable: ReadableFile | null,
  choice: ColumnChoice,
  replaces: boolean,
): ImportInput | null {
  const columns = toColumns(choice)
  return columns && readable ? { readable, columns, replaces, comparison: null } : null
}

/** The analysis that the form shows. A new one replaces it. */
function createAnalyzer(session: Session) {
  const analysis = signal<Analysis | null>(null)
  let turn = new AbortController()

  /** Ends what is in progress; returns the signal that ends the next turn. */
  function begin(): AbortSignal {
    turn.abort()
    turn = new AbortController()
    return turn.signal
  }

  async function show(input: ImportInput | null): Promise<void> {
    const turnSignal = begin()
    if (!input) analysis.value = null
    else {
      const { readable, columns } = input
      for await (const part of analyze(readable, columns, createComparison(session))) {
        if (turnSignal.aborted) return
        analysis.value = part
      }
    }
  }
  return { analysis, begin, show }
}

function createQuestions(
  { file, format, kind, lists, ...detection }: DetectedFile,
  session: Session,
  memory: Memory,
  proposedColumns: ColumnChoice,
) {
  const decision = Promise.withResolvers<ImportInput | null>()
  const settings = signal<Settings>(detection.settings)
  const readable = signal<ReadableFile | null>(detection.readable)
  const columns = signal(proposedColumns)
  const replaces = signal(false)
  /** The reason that the file cannot be read with these settings; null: it can. */
  const error = signal(detection.problem)
  const input = computed(() => toInput(readable.value, columns.value, replaces.value))
  const { analysis, begin, show } = createAnalyzer(session)

  function choose(change: Partial<ColumnChoice>): void {
    columns.value = { ...columns.value, ...change }
    void show(input.value)
  }

  /** Reads the file with other settings. Keeps the chosen columns if their number stays the same. */
  async function read(change: Partial<Settings>): Promise<void> {
    const turnSignal = begin()
    const width = readable.value?.table.header.length
    settings.value = { ...settings.value, ...change }
    try {
      const next = await openFile(file, format, settings.value, turnSignal)
      const isMoved = ROW_SETTINGS.some((setting) => change[setting] !== undefined)
      const isOther = isMoved || next.table.header.length !== width
      const proposal = isOther ? await propose(next.table) : null
      if (turnSignal.aborted) return
      error.value = null
      readable.value = next
      if (proposal) columns.value = { ...columns.value, ...proposal.columns }
      await show(input.value)
    } catch (reason) {
      if (turnSignal.aborted) return
      error.value = reasonOf(reason)
      readable.value = null
      analysis.value = null
    }
  }

  function decide(choice: ImportInput | null): void {
    begin()
    decision.resolve(choice)
  }

  return {
    file,
    format,
    lists,
    settings,
    readable,
    columns,
    replaces,
    analysis,
    error,
    isUnknown: detection.problem !== null,
    input,
    decision: decision.promise,
    read,
    choose,

    /** Imports the file as it is shown. */
    accept(): void {
      if (!input.value) return
      memory.set(kind, { settings: settings.value, columns: columns.value, file: fileKey(file) })
      decide({ ...input.value, comparison: comparisonOf(analysis.value) })
    },

    cancel: (): void => decide(null),
  }
}
