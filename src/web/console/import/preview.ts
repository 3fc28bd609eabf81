// The questions before an import: encoding and format of the file, its columns, and a preview of the result.

import { computed, signal } from '@preact/signals'
import type { Settings } from '../../../formats/table.ts'
import { INT64_MAX } from '../../../plant/plant.ts'
import type { Session } from '../session.ts'
import { reasonOf } from './advice.ts'
import type { Analysis } from './analyze.ts'
import { createAnalyzer } from './analyzer.ts'
import { type ColumnChoice, propose, toColumns } from './columns.ts'
import type { Comparison } from './compare.ts'
import { type DetectedFile, type ImportInput, type Memory, nameFile } from './detect.ts'
import { type OpenedFile, openFile } from './file.ts'

/** The id after the largest one; '' if there is none, or it cannot be read. */
async function nextFreeId(session: Session): Promise<string> {
  const page = await session.call((client) => client.listPlants({ order: 'desc', limit: 1 }))
  if (!page.ok) return ''
  const largest = page.value.plants[0]?.id ?? 0n
  if (largest === INT64_MAX) return ''
  return String(largest < 0n ? 1n : largest + 1n)
}

/** The settings with which other rows are read. */
const OTHER_ROWS = ['sheet', 'headerRow', 'list'] as const

export type Preview = Awaited<ReturnType<typeof createPreview>>

/** Asks about a file. `decided` resolves to the input, or to null if the import was cancelled. */
export async function createPreview(found: DetectedFile, session: Session, memory: Memory) {
  const remembered = memory.get(found.kind)
  const isSameFile = remembered?.file === nameFile(found.file)
  const preview = createQuestions(found, session, memory, {
    ...found.proposal.columns,
    numberFrom: isSameFile ? remembered.columns.numberFrom : await nextFreeId(session),
  })
  const { opened, columns, read, choose } = preview
  if (!remembered) choose({})
  else {
    const { encoding } = found.settings
    await read({
      ...remembered.settings,
      encoding: encoding === null && !found.problem ? null : remembered.settings.encoding,
    })
    if (opened.value) choose({ ...remembered.columns, numberFrom: columns.value.numberFrom })
    // For example, this workbook may lack the remembered sheet.
    else await read(found.settings)
  }
  return { ...preview, isRemembered: remembered !== undefined }
}

/** The stored plants of all rows; null: they were not read, or not all. */
function comparisonOf(analysis: Analysis | null): Comparison | null {
  const compared = analysis?.isWhole ? analysis.compared : null
  return typeof compared === 'string' ? null : compared
}

function toInput(
  opened: OpenedFile | null,
  choice: ColumnChoice,
  replaces: boolean,
): ImportInput | null {
  const columns = toColumns(choice)
  return columns && opened ? { opened, columns, replaces, compared: null } : null
}

function createQuestions(
  { file, format, kind, lists, ...found }: DetectedFile,
  session: Session,
  memory: Memory,
  proposed: ColumnChoice,
) {
  const decided = Promise.withResolvers<ImportInput | null>()
  const settings = signal<Settings>(found.settings)
  const opened = signal<OpenedFile | null>(found.opened)
  const columns = signal(proposed)
  const replaces = signal(false)
  /** The reason if the file cannot be read with these settings. */
  const error = signal(found.problem)
  const input = computed(() => toInput(opened.value, columns.value, replaces.value))
  const analyzer = createAnalyzer(session)
  let reading = new AbortController()

  function choose(change: Partial<ColumnChoice>): void {
    columns.value = { ...columns.value, ...change }
    void analyzer.analyze(input.value)
  }

  /** Reads the file with other settings. The chosen columns stay if there are as many. */
  async function read(change: Partial<Settings>): Promise<void> {
    const isLatest = analyzer.begin()
    const width = opened.value?.table.header.length
    reading.abort()
    reading = new AbortController()
    settings.value = { ...settings.value, ...change }
    try {
      const next = await openFile(file, format, settings.value, reading.signal)
      const isMoved = OTHER_ROWS.some((setting) => change[setting] !== undefined)
      const isOther = isMoved || next.table.header.length !== width
      const proposal = isOther ? await propose(next.table) : null
      if (!isLatest()) return
      error.value = null
      opened.value = next
      if (proposal) columns.value = { ...columns.value, ...proposal.columns }
      await analyzer.analyze(input.value)
    } catch (reason) {
      if (!isLatest()) return
      error.value = reasonOf(reason)
      opened.value = null
      analyzer.analysis.value = null
    }
  }

  function decide(chosen: ImportInput | null): void {
    analyzer.begin()
    reading.abort()
    decided.resolve(chosen)
  }

  return {
    file,
    format,
    lists,
    settings,
    opened,
    columns,
    replaces,
    analysis: analyzer.analysis,
    error,
    isUnknown: found.problem !== null,
    input,
    isUsual: found.proposal.isUsual,
    decided: decided.promise,
    read,
    choose,

    /** Imports the file as it is shown. */
    accept(): void {
      if (!input.value) return
      memory.set(kind, { settings: settings.value, columns: columns.value, file: nameFile(file) })
      decide({ ...input.value, compared: comparisonOf(analyzer.analysis.value) })
    },

    cancel: (): void => decide(null),
  }
}
