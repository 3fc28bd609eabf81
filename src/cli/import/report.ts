// The report of an import: its progress, its refused rows and its summary.

import { usedColumns } from '../../formats/columns'
import { createExamples } from '../../formats/examples'
import { listColumns } from '../../formats/header'
import { createRefusedWriter, type RefusedWriter } from '../../formats/refused'
import type { Entry } from '../../formats/row'
import { explainUnmapped, findUnmapped } from '../../formats/row-update'
import { WRITERS } from '../../formats/write'
import type { CommandContext } from '../command'
import type { createProgress } from '../terminal/progress'
import { refusedImportCommand } from './command-line'
import { explainChoice, explainHidden, type ImportFile } from './open-file'
import type { RefusedFile } from './refused-file'
import { createTally, summarize, type Tally } from './tally'

const PLANTS_SHOWN = 5

export class Report {
  readonly tally: Tally
  readonly #file: ImportFile
  readonly #refusedFile: RefusedFile | null
  readonly #progress: ReturnType<typeof createProgress>
  readonly #context: CommandContext
  readonly #refusedWriter: RefusedWriter
  readonly #notices: string[]
  readonly #examples = createExamples(PLANTS_SHOWN)

  constructor(
    file: ImportFile,
    refusedFile: RefusedFile | null,
    progress: ReturnType<typeof createProgress>,
    context: CommandContext,
  ) {
    this.#file = file
    this.#refusedFile = refusedFile
    this.#progress = progress
    this.#context = context
    this.#refusedWriter = createRefusedWriter(file.table, file.columns)
    const { table } = file
    this.#notices = [explainChoice(table), explainHidden(table)].filter((notice) => notice !== null)
    this.tally = createTally(
      (line) => this.#write(line),
      (entry, problem, place) => this.#addRefused(entry, problem, place),
    )
  }

  /** Adds a notice about the whole file, to print at the end. */
  notice(text: string): void {
    this.#notices.push(text)
  }

  /** Updates the progress bar, and writes the refused rows to their file. */
  update(): void {
    this.#refusedFile?.flush()
    const { bytes, bytesRead } = this.#file
    this.#progress.update(this.tally.rows(), bytesRead(), bytes)
  }

  /** Collects plants of a dry run for the preview. */
  preview(entries: readonly Entry[]): void {
    for (const entry of entries) if ('plant' in entry) this.#examples.add(entry.plant)
  }

  /** Prints the summary, even if the import failed or was interrupted. */
  async end(): Promise<void> {
    const { config, out } = this.#context
    const { table, columns } = this.#file
    this.#progress.end()
    const examples = this.#examples.list().map(WRITERS.ndjson.line)
    if (examples.length > 0) out.write(`preview:\n${examples.join('')}`)
    this.tally.end()
    const usedPlaces = usedColumns(columns)
    const unusedPlaces = [...table.header.keys()].filter((place) => !usedPlaces.has(place))
    if (table.isNamed && unusedPlaces.length > 0)
      this.#write(`columns not used: ${listColumns(table.header, unusedPlaces)}`)
    for (const text of this.#notices) this.#write(text)
    await this.#saveRefused().finally(() =>
      out.write(summarize(this.tally, config.dryRun, this.#unmappedNotes())),
    )
  }

  #unmappedNotes(): readonly string[] {
    const { replaced, skipped } = this.tally.counts
    const unmappedTexts = this.#context.config.replace ? findUnmapped(this.#file.columns) : []
    return explainUnmapped(replaced + skipped, unmappedTexts)
  }

  async #saveRefused(): Promise<void> {
    const { config } = this.#context
    const { refused } = config
    if (refused === null || !(await this.#refusedFile?.end())) return
    const line = refusedImportCommand(refused, config, this.#file.columns, this.#refusedWriter)
    this.#write(`refused rows saved to ${refused}; fix them, then run: ${line}`)
  }

  #addRefused(entry: Entry, problem: string, rowIndex: number): void {
    if (!this.#refusedFile || !('source' in entry)) return
    const { row, header } = this.#refusedWriter
    this.#refusedFile.add(row(entry.source, problem, rowIndex), header)
  }

  // Replaces the progress bar with a line.
  #write(line: string): void {
    this.#progress.end()
    this.#context.err.write(`${line}\n`)
  }
}
