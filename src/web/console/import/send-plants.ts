// Sends the plants of a file, a group at a time, and reports the outcome of each row.

import { ClientError } from '../../../client/client.ts'
import { groupEntries, readPlants } from '../../../formats/plants.ts'
import type { Entry } from '../../../formats/row.ts'
import { explainUnmapped, findUnmapped } from '../../../formats/row-update.ts'
import { explainRefusal, groupRefusal } from '../create-plants.ts'
import type { Session } from '../session.ts'
import { FORM_ADVICE, reasonOf } from './advice.ts'
import { explainStop, unusedColumns } from './analyze.ts'
import { createRows } from './create-rows.ts'
import type { ImportInput } from './detect-file.ts'
import { createSteps, type Steps } from './import-steps.ts'
import { createRefusals, type NumberedRow, type RefusedRow } from './refusals.ts'
import { createReplacer, replacePlants } from './replace-plants.ts'
import type { Import } from './state.ts'

type Update = (change: (before: Import) => Partial<Import>) => void

type SendContext = {
  readonly input: ImportInput
  readonly session: Session
  readonly signal: AbortSignal
  readonly update: Update
  readonly steps: Steps
  readonly replacing: ReturnType<typeof createReplacer>
}

/**
 * Creates the plants of a group, or replaces stored ones. Resolves to the rows that the reader or the service refused.
 */
async function sendGroup(
  group: readonly NumberedRow[],
  context: SendContext,
): Promise<readonly RefusedRow[]> {
  const { input, session, signal, update, steps, replacing } = context
  const refusedRows: RefusedRow[] = group.flatMap(({ entry, rowIndex }) =>
    'problem' in entry ? [{ line: entry.line, problem: entry.problem, entry, rowIndex }] : [],
  )
  const plants = group.flatMap(({ entry, rowIndex }) =>
    'plant' in entry ? [{ ...entry.plant, entry, rowIndex }] : [],
  )
  if (plants.length === 0) return refusedRows
  const result = input.replaces
    ? await replacePlants(session, plants.map(replacing), signal)
    : await createRows(session, plants, input.columns, signal)
  if (!result.ok) throw new ClientError(result)
  const { created, known, replaced } = result.value
  const refusedIndexes = new Set(result.value.refused.map(({ plant }) => plant.rowIndex))
  const storedRows = plants.filter(({ rowIndex }) => !refusedIndexes.has(rowIndex))
  const emptyNames = storedRows.filter(({ name }) => name === '').length
  update((before) => ({
    created: before.created + created,
    skipped: before.skipped + known,
    replaced: before.replaced + replaced,
    emptyNames: before.emptyNames + emptyNames,
  }))
  steps.add({
    plants: storedRows.map(({ entry: _, rowIndex: __, ...plant }) => plant),
    skipped: known,
    replaced,
  })
  for (const { plant, failure } of result.value.refused) {
    const { entry, rowIndex } = plant
    const problem = explainRefusal(plant, failure)
    refusedRows.push({ line: entry.line, problem, entry, rowIndex })
  }
  return refusedRows
}

/** Returns a function that numbers rows across groups; `onStop` gets the entry where reading stopped. */
function createRowNumbering(onStop: (entry: Extract<Entry, { stop: string }>) => void) {
  let nextIndex = 0
  return (group: readonly Entry[]): NumberedRow[] =>
    group.flatMap((entry) => {
      if (!('stop' in entry)) return [{ entry, rowIndex: nextIndex++ }]
      onStop(entry)
      return []
    })
}

/** Sends the plants of a file; calls `update` with the progress. Resolves to the steps to undo. Never rejects. */
export async function sendPlants(
  input: ImportInput,
  session: Session,
  signal: AbortSignal,
  update: Update,
): Promise<ReturnType<Steps['all']>> {
  const { readable, columns } = input
  const { table, rows } = readable
  const steps = createSteps(input)
  const replacing = createReplacer(input)
  const refuse = createRefusals(table, columns, update)
  const numberRows = createRowNumbering(({ line, stop }) =>
    update(() => ({ unreadReason: explainStop(line, stop), isFileError: true })),
  )
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
      const numberedRows = numberRows(group)
      refuse(await sendGroup(numberedRows, { input, session, signal, update, steps, replacing }))
      update((before) => ({ rows: before.rows + numberedRows.length, bytesRead }))
    }
  } catch (error) {
    const isOfService = error instanceof ClientError
    const reason = isOfService ? groupRefusal(error.failure) : reasonOf(error)
    if (!signal.aborted) {
      update(({ rows }) => ({
        unreadReason: rows === 0 ? reason : `the rest: ${reason}`,
        isFileError: !isOfService,
      }))
    }
  }
  if (signal.aborted) update(() => ({ unreadReason: 'the rest, because it was stopped' }))
  update(({ unreadReason, skipped, replaced }) => ({
    notices: [
      ...(input.replaces ? explainUnmapped(skipped + replaced, findUnmapped(columns)) : []),
      ...notices,
    ],
    state: signal.aborted ? 'stopped' : unreadReason === null ? 'done' : 'failed',
  }))
  return steps.all()
}
