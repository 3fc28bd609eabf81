// The report of an import: its progress, the results of its rows, and its summary.

import { usedColumns } from '../../formats/columns'
import { createExamples } from '../../formats/examples'
import { listColumns } from '../../formats/header'
import { createRefusedWriter, type RefusedWriter } from '../../formats/refused'
import type { Entry } from '../../formats/row'
import { findUnmapped } from '../../formats/row-update'
import { WRITERS } from '../../formats/write'
import { listWords } from '../../plant/plant'
import type { CommandContext } from '../command'
import { countOf } from '../count'
import type { createProgress } from '../terminal/progress'
import { refusedImportCommand } from './command-line'
import type { RowResult } from './import-groups'
import { explainChoice, type ImportFile } from './open-file'
import type { RefusedFile } from './refused-file'

/** Maximum number of refused rows shown. */
export const REFUSED_SHOWN = 20
const PLANTS_SHOWN = 5

/** Counts the results of one import, and prints what its user must know. */
export class Report {
  #counts = { created: 0, skipped: 0, replaced: 0, refused: 0 }
  #rowCount = 0
  /** The number of plants whose name is the empty text. */
  #emptyNames = 0
  /** The rows that were not read, and the reason; null if all were read. */
  #unreadReason: string | null = null
  readonly #refusedWriter: RefusedWriter
  /** Notices about the whole file. */
  readonly #notices: (string | null)[]
  readonly #examples = createExamples(PLANTS_SHOWN)

  constructor(
    private readonly file: ImportFile,
    private readonly refusedFile: RefusedFile | null,
    private readonly progress: ReturnType<typeof createProgress>,
    private readonly context: CommandContext,
  ) {
    this.#refusedWriter = createRefusedWriter(file.table, file.columns)
    this.#notices = [explainChoice(file.table)]
  }

  /** True if every row was read, and none was refused. */
  get isComplete(): boolean {
    return this.#counts.refused === 0 && this.#unreadReason === null
  }

  /** Adds a notice about the whole file, to print at the end. */
  notice(text: string): void {
    this.#notices.push(text)
  }

  /** Notes that rows were not read, and the reason; the first reason counts. */
  stop(reason: string): void {
    this.#unreadReason ??= reason
  }

  /** Counts the result of a row. The first refused ones are printed, and all are written to their file. */
  record = (entry: Entry, result: RowResult): void => {
    if ('stop' in entry) {
      this.stop(`from line ${entry.line} on: ${entry.stop}`)
      return
    }
    if (typeof result === 'string') {
      this.#counts[result] += 1
      if ('plant' in entry && entry.plant.name === '') this.#emptyNames += 1
    } else {
      const { problem } = result
      this.#counts.refused += 1
      if (this.#counts.refused <= REFUSED_SHOWN) this.#write(`line ${entry.line}: ${problem}`)
      const { row, header } = this.#refusedWriter
      this.refusedFile?.add(row(entry.source, problem, entry.rowIndex), header)
    }
    this.#rowCount += 1
  }

  /** Passes groups of rows on, with progress, until the signal is aborted. Collects plants for the preview. */
  async *follow(
    groups: AsyncIterable<readonly Entry[]>,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Entry[]> {
    for await (const group of groups) {
      if (signal.aborted) return
      if (this.context.config.dryRun)
        for (const entry of group) if ('plant' in entry) this.#examples.add(entry.plant)
      await this.refusedFile?.flush()
      this.progress.update(this.#rowCount, this.file.bytesRead(), this.file.bytes)
      yield group
    }
  }

  /** Prints the summary, even if the import failed or was interrupted. */
  async end(): Promise<void> {
    const { out } = this.context
    const { table, columns } = this.file
    this.progress.end()
    const examples = this.#examples.list().map(WRITERS.ndjson.line)
    if (examples.length > 0) out.write(`preview:\n${examples.join('')}`)
    const usedPlaces = usedColumns(columns)
    const unusedPlaces = [...table.header.keys()].filter((place) => !usedPlaces.has(place))
    if (table.isNamed && unusedPlaces.length > 0)
      this.#write(`columns not used: ${listColumns(table.header, unusedPlaces)}`)
    for (const text of this.#notices) if (text !== null) this.#write(text)
    await this.#saveRefused().finally(() => out.write(`${this.#summarize().join('; ')}\n`))
  }

  #summarize(): string[] {
    const { config } = this.context
    const { created, skipped, replaced, refused } = this.#counts
    const unmappedTexts = config.replace ? findUnmapped(this.file.columns) : []
    const counts = config.dryRun
      ? `dry run; would create ${created}, skip ${skipped}, replace ${replaced}, refuse ${refused}`
      : `created ${created}, skipped ${skipped}, replaced ${replaced}, refused ${refused}`
    const parts = [counts, `${countOf(this.#rowCount, 'row')} read`]
    if (unmappedTexts.length > 0 && replaced + skipped > 0)
      parts.push(
        `stored plants keep their ${listWords(unmappedTexts)}: no column of the file has it`,
      )
    const empty = this.#emptyNames
    if (empty > 0) parts.push(`${empty} ${empty === 1 ? 'has' : 'have'} an empty name`)
    if (this.#unreadReason !== null) parts.push(`not read: ${this.#unreadReason}`)
    return parts
  }

  async #saveRefused(): Promise<void> {
    const { config } = this.context
    const { refused } = config
    if (refused === null || !(await this.refusedFile?.end())) return
    const line = refusedImportCommand(refused, config, this.file.columns, this.#refusedWriter)
    this.#write(`refused rows saved to ${refused}; fix them, then run: ${line}`)
  }

  // Replaces the progress bar with a line.
  #write(line: string): void {
    this.progress.end()
    this.context.err.write(`${line}\n`)
  }
}
