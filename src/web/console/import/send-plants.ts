// Sends the plants of a file, a group at a time, and reports the outcome of each row.

import { ClientError } from '../../../client/client.ts'
import { groupEntries, readPlants } from '../../../formats/plants.ts'
import type { RowEntry } from '../../../formats/row.ts'
import { findUnmapped, type PlantEntry, updateOf } from '../../../formats/row-update.ts'
import { explainRefusal, groupRefusal } from '../create-plants.ts'
import { TEXTS } from '../texts.ts'
import { textsOf } from '../undo/step.ts'
import type { UndoItem } from '../undo/undo-history.ts'
import { FORM_ADVICE, reasonOf } from './advice.ts'
import { explainRest, explainStop, unusedColumns } from './analyze.ts'
import type { ImportInput } from './detect-file.ts'
import { createSteps } from './import-steps.ts'
import { createRefusals, type RefusedRow } from './refusals.ts'
import { type SentRow, sendRows } from './send-rows.ts'
import type { ImportContext } from './state.ts'

/** `isNew`: the plant was not stored when it was compared, so none is to be replaced. */
type ComparedRow = SentRow & { readonly entry: PlantEntry; readonly isNew: boolean }

/**
 * Returns a function that makes the row to send. A compared plant is replaced only if it is still stored as it was, except
 * for an id that is repeated in the file.
 */
function createSentRows({ columns, comparison }: Pick<ImportInput, 'columns' | 'comparison'>) {
  const unmappedTexts = findUnmapped(columns)
  const seenIds = new Set<bigint>()
  return (entry: PlantEntry): ComparedRow => {
    const update = updateOf(entry, unmappedTexts)
    const texts = TEXTS.filter((text) => update[text] !== undefined)
    const isRepeated = seenIds.has(update.id)
    const before = isRepeated ? undefined : comparison?.storedOf(update.id)
    seenIds.add(update.id)
    const was = before ? { was: textsOf(before, texts) } : {}
    const isNew = comparison !== null && !isRepeated && !before
    return { ...entry.plant, entry, isNew, update: { ...update, ...was } }
  }
}

/**
 * Returns a function that creates the plants of a group, or replaces stored ones. It resolves to the rows that the reader
 * or the service refused.
 */
function createSender(
  input: ImportInput,
  { session, signal, update }: ImportContext,
  steps: ReturnType<typeof createSteps>,
) {
  const toSentRow = createSentRows(input)

  /** Resolves to the rows that the service refused. */
  async function send(
    rows: readonly ComparedRow[],
    replaces: boolean,
  ): Promise<readonly RefusedRow[]> {
    if (rows.length === 0) return []
    const outcome = await sendRows(session, rows, replaces, signal).catch((error: unknown) => {
      // A request that was stopped may be carried out.
      if (signal.aborted && input.comparison) {
        const updates = rows.map((row) => row.update)
        steps.add({ updates, skipped: updates.length, replaced: 0 })
      }
      throw error
    })
    const { created, known, replaced, refused } = outcome
    const refusedEntries = new Set(refused.map(({ plant }) => plant.entry))
    const storedRows = rows.filter(({ entry }) => !refusedEntries.has(entry))
    const emptyNames = storedRows.filter(({ name }) => name === '').length
    update((before) => ({
      created: before.created + created,
      skipped: before.skipped + known,
      replaced: before.replaced + replaced,
      emptyNames: before.emptyNames + emptyNames,
    }))
    steps.add({ updates: storedRows.map((row) => row.update), skipped: known, replaced })
    return refused.map(({ plant, failure }) => ({
      ...plant.entry,
      problem: explainRefusal(plant, failure),
    }))
  }

  return async (group: readonly RowEntry[]): Promise<readonly RefusedRow[]> => {
    const unreadRows = group.filter((entry) => 'problem' in entry)
    const rows = group.filter((entry) => 'plant' in entry).map(toSentRow)
    const isToCreate = ({ isNew }: ComparedRow) => isNew || !input.replaces
    return [
      ...unreadRows,
      ...(await send(rows.filter(isToCreate), false)),
      ...(await send(
        rows.filter((row) => !isToCreate(row)),
        true,
      )),
    ]
  }
}

/** Sends the plants of a file; calls `update` with the progress. Resolves to the steps to undo. Never rejects. */
export async function sendPlants(
  input: ImportInput,
  context: ImportContext,
): Promise<Omit<UndoItem, 'what'>> {
  const { signal, update } = context
  const { readable, columns } = input
  const { table, rows } = readable
  const steps = createSteps(input.comparison)
  const send = createSender(input, context, steps)
  const refuse = createRefusals(table, columns, update)
  const unusedNotice = unusedColumns(table, columns)
  const notices = unusedNotice === null ? [] : [unusedNotice]
  let bytesRead = 0
  const lines = rows((count) => {
    bytesRead += count
  })
  const entries = readPlants({ ...table, lines }, columns, FORM_ADVICE, (notice) =>
    notices.push(notice),
  )
  try {
    for await (const group of groupEntries(entries)) {
      if (signal.aborted) break
      const end = group.find((entry) => 'stop' in entry)
      if (end) {
        const unreadReason = explainStop(end.line, end.stop)
        update(() => ({ unreadReason, isFileError: true }))
      }
      const rowEntries = group.filter((entry) => 'source' in entry)
      refuse(await send(rowEntries))
      update((before) => ({ rows: before.rows + rowEntries.length, bytesRead }))
    }
  } catch (error) {
    const isOfService = error instanceof ClientError
    const reason = isOfService ? groupRefusal(error.failure) : reasonOf(error)
    if (!signal.aborted) {
      update(({ rows }) => ({
        unreadReason: explainRest(rows, reason),
        isFileError: !isOfService,
      }))
    }
  }
  if (signal.aborted) update(() => ({ unreadReason: 'the rest, because it was stopped' }))
  update(({ unreadReason }) => ({
    notices,
    state: signal.aborted ? 'stopped' : unreadReason === null ? 'done' : 'failed',
  }))
  return steps.all()
}
