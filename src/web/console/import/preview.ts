// The questions before an import: encoding and format of the file, its columns, and a preview of the result.

import { computed, type Signal, signal } from '@preact/signals'
import type { Format } from '../../../formats/format.ts'
import type { Settings } from '../../../formats/question.ts'
import { nextFreeId } from '../create-plants.ts'
import type { Session } from '../session.ts'
import { reasonOf } from './advice.ts'
import { type Analysis, analyze } from './analyze.ts'
import { type ColumnChoice, propose, toColumns } from './column-proposal.ts'
import { createComparison } from './compare.ts'
import { type DetectedFile, fileKey, type ImportInput, isCertain } from './detect-file.ts'
import { openFile, type ReadableFile } from './readable-file.ts'

/** The settings that select other rows. */
const ROW_SETTINGS = ['sheet', 'headerRow', 'list'] as const

/** True if the user must see a row or a plant before the import. */
const needsQuestion = ({ refused, unreadReason, comparison }: Analysis): boolean =>
  refused > 0 ||
  unreadReason !== null ||
  comparison === 'failed' ||
  (comparison?.differing ?? 0) > 0

export class Preview {
  readonly settings: Signal<Settings>
  readonly readable: Signal<ReadableFile | null>
  /** null until it is known. */
  readonly format: Signal<Format | null>
  readonly columns: Signal<ColumnChoice>
  readonly replaces = signal(false)
  /** The reason that the file cannot be read with these settings, or null if it can. */
  readonly error: Signal<string | null>
  readonly analysis = signal<Analysis | null>(null)
  readonly input = computed((): ImportInput | null => {
    const columns = toColumns(this.columns.value)
    const { value: readable } = this.readable
    const replaces = this.replaces.value
    return columns && readable ? { readable, columns, replaces, comparison: null } : null
  })
  readonly #decision = Promise.withResolvers<ImportInput | null>()
  #turn = new AbortController()

  constructor(
    readonly detection: DetectedFile,
    readonly session: Session,
    /** The first number of each file so far. */
    readonly firstNumbers: Map<string, string>,
  ) {
    this.settings = signal(detection.settings)
    this.readable = signal(detection.readable)
    this.format = signal(detection.readable?.table.format ?? null)
    this.columns = signal({ ...detection.proposal.columns, numberFrom: '' })
    this.error = signal(detection.problem)
  }

  /** Resolves to the input, or to null if the import was cancelled. */
  get decision(): Promise<ImportInput | null> {
    return this.#decision.promise
  }

  /**
   * Accepts the file as it was detected, if that is certain, its rows are valid, and none differs from a stored plant.
   * False for other files.
   */
  async acceptDetected(): Promise<boolean> {
    if (!isCertain(this.detection) || !this.input.value) return false
    const clear = Promise.withResolvers<boolean>()
    const stop = this.analysis.subscribe((latest) => {
      if (latest && (latest.isWhole || needsQuestion(latest))) clear.resolve(!needsQuestion(latest))
    })
    void this.#analyze()
    const isClear = await Promise.race([clear.promise, this.decision.then(() => false)])
    stop()
    if (isClear) this.#accept()
    return isClear
  }

  /** Prepares the form: proposes the number that the file had before, or else the next free id. */
  async prepare(): Promise<void> {
    const earlier = this.firstNumbers.get(fileKey(this.detection.file))
    const numberFrom = earlier ?? String((await nextFreeId(this.session)) ?? '')
    this.columns.value = { ...this.columns.value, numberFrom }
    if (!this.analysis.value) void this.#analyze()
  }

  readonly choose = (change: Partial<ColumnChoice>): void => {
    this.columns.value = { ...this.columns.value, ...change }
    void this.#analyze()
  }

  /** Reads the file with other settings. Keeps the chosen columns if their number stays the same. */
  readonly read = async (change: Partial<Settings>): Promise<void> => {
    if (await this.#open(change)) await this.#analyze()
  }

  /** True if the file is open with other settings; otherwise `error` has the reason, unless another turn has begun. */
  async #open(change: Partial<Settings>): Promise<boolean> {
    const signal = this.#beginTurn()
    const width = this.readable.value?.table.header.length
    this.settings.value = { ...this.settings.value, ...change }
    try {
      const next = await openFile(this.detection.file, this.settings.value, signal)
      const isMoved = ROW_SETTINGS.some((setting) => change[setting] !== undefined)
      const isOther = isMoved || next.table.header.length !== width
      const proposal = isOther ? propose(next.table) : null
      if (signal.aborted) return false
      this.error.value = null
      this.readable.value = next
      this.format.value = next.table.format
      this.columns.value = { ...this.columns.value, ...proposal?.columns }
      return true
    } catch (reason) {
      if (signal.aborted) return false
      this.error.value = reasonOf(reason)
      this.readable.value = null
      this.analysis.value = null
      return false
    }
  }

  /** True if the file can be imported as it is shown. What would be replaced is shown first. */
  get isReady(): boolean {
    const { value: input } = this.input
    return input !== null && (!input.replaces || this.analysis.value?.isWhole === true)
  }

  /** Imports the file as it is shown. */
  accept(): void {
    if (!this.isReady) return
    this.firstNumbers.set(fileKey(this.detection.file), this.columns.value.numberFrom)
    this.#accept()
  }

  readonly cancel = (): void => this.#decide(null)

  #accept(): void {
    const { value: input } = this.input
    const { comparison = null, isWhole } = this.analysis.value ?? {}
    const isCompared = isWhole && comparison !== 'failed'
    this.#decide(input && { ...input, comparison: isCompared ? comparison : null })
  }

  #decide(input: ImportInput | null): void {
    this.#beginTurn()
    this.#decision.resolve(input)
  }

  /** Ends what is in progress; returns the signal that ends the next turn. */
  #beginTurn(): AbortSignal {
    this.#turn.abort()
    this.#turn = new AbortController()
    return this.#turn.signal
  }

  /** Shows the result of the chosen input. */
  async #analyze(): Promise<void> {
    const signal = this.#beginTurn()
    const { value: input } = this.input
    const { value: before } = this.analysis
    // What is shown may be of other columns.
    this.analysis.value = input && before && { ...before, isWhole: false }
    if (!input) return
    const compare = createComparison(this.session)
    for await (const part of analyze(input.readable, input.columns, compare)) {
      if (signal.aborted) return
      this.analysis.value = part
    }
  }
}
