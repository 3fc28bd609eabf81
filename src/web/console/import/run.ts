// Sends the plants of a file, a group at a time, and reports the outcome of each row.

import { ClientError } from '../../../client/client.ts'
import { groupEntries, readPlants } from '../../../formats/plants.ts'
import type { Entry } from '../../../formats/row.ts'
import { explainUnmapped, findUnmapped } from '../../../formats/row-update.ts'
import { explainRefusal, refusalOf } from '../create-plants.ts'
import type { Session } from '../session.ts'
import { FORM_ADVICE, reasonOf } from './advice.ts'
import { notReadFrom, unusedColumns } from './analyze.ts'
import { createRows } from './create-rows.ts'
import type { ImportInput } from './detect.ts'
import { createSteps, type Steps } from './import-steps.ts'
import { createRefusals, type PlacedRow, type RefusedRow } from './refusals.ts'
import { createReplacing, replacePlants } from './replace-plants.ts'
import type { Import } from './state.ts'

type Update = (change: (before: Import) => Partial<Import>) => void

type Run = {
  readonly input: ImportInput
  readonly session: Session
  readonly signal: AbortSignal
  readonly update: Update
  readonly steps: Steps
  readonly replacing: ReturnType<typeof createReplacing>
}

/**
 * Creates the plants of a group, or replaces stored ones; returns the rows that were refused, by the file's reader or
 * by the service.
 */
async function send(group: readonly PlacedRow[], run: Run): Promise<readonly RefusedRow[]> {
  const { input, session, signal, update, steps, replacing } = run
  const refusedRows: RefusedRow[] = group.flatMap(({ entry, place }) =>
    'problem' in entry ? [{ line: entry.line, problem: entry.problem, entry, place }] : [],
  )
  const plants = group.flatMap(({ entry, place }) =>
    'plant' in entry ? [{ ...entry.plant, entry, place }] : [],
  )
  if (plants.length === 0) return refusedRows
  const result = input.replaces
    ? await replacePlants(session, plants.map(replacing), signal)
    : await createRows(session, plants, input.columns, signal)
  if (!result.ok) throw new ClientError(result)
  const { created, known, replaced } = { replaced: 0, ...result.value }
  const refusedPlaces = new Set(result.value.refused.map(({ plant }) => plant.place))
  const storedRows = plants.filter(({ place }) => !refusedPlaces.has(place))
  const emptyNames = storedRows.filter(({ name }) => name === '').length
  update((before) => ({
    created: before.created + created,
    known: before.known + known,
    replaced: before.replaced + replaced,
    emptyNames: before.emptyNames + emptyNames,
  }))
  steps.add({
    plants: storedRows.map(({ entry: _, place: __, ...plant }) => plant),
    known,
    replaced,
  })
  for (const { plant, failure } of result.value.refused) {
    const { entry, place } = plant
    const problem = explainRefusal(plant, failure)
    refusedRows.push({ line: entry.line, problem, entry, place })
  }
  return refusedRows
}

/** Numbers the rows of a file across its groups; `onStop` gets the entry where reading stopped. */
function createPlaces(onStop: (entry: Extract<Entry, { stop: string }>) => void) {
  let place = 0
  return (group: readonly Entry[]): PlacedRow[] =>
    group.flatMap((entry) => {
      if (!('stop' in entry)) return [{ entry, place: place++ }]
      onStop(entry)
      return []
    })
}

/** Imports a file; `update` is called with each progress. Resolves to what was changed. Never rejects. */
export async function run(
  input: ImportInput,
  session: Session,
  signal: AbortSignal,
  update: Update,
): Promise<ReturnType<Steps['all']>> {
  const { opened, columns } = input
  const { table, rows } = opened
  const steps = createSteps(input)
  const replacing = createReplacing(input)
  const refuse = createRefusals(table, columns, update)
  const placed = createPlaces(({ line, stop }) =>
    update(() => ({ notRead: notReadFrom(line, stop), isOfFile: true })),
  )
  const unused = unusedColumns(table, columns)
  const notices = unused === null ? [] : [unused]
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
      const placedRows = placed(group)
      refuse(await send(placedRows, { input, session, signal, update, steps, replacing }))
      update((before) => ({ rows: before.rows + placedRows.length, bytesRead }))
    }
  } catch (error) {
    const isOfService = error instanceof ClientError
    const reason = isOfService ? refusalOf(error.failure) : reasonOf(error)
    if (!signal.aborted) {
      update(({ rows }) => ({
        notRead: rows === 0 ? reason : `the rest: ${reason}`,
        isOfFile: !isOfService,
      }))
    }
  }
  if (signal.aborted) update(() => ({ notRead: 'the rest, because it was stopped' }))
  update(({ notRead, known, replaced }) => ({
    notices: [
      ...(input.replaces ? explainUnmapped(known + replaced, findUnmapped(columns)) : []),
      ...notices,
    ],
    state: signal.aborted ? 'stopped' : notRead === null ? 'done' : 'failed',
  }))
  return steps.all()
}
