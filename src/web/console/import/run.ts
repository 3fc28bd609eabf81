// Sends the plants of a file, a group at a time, and reports the outcome of each row.

import { ClientError } from '../../../client/client.ts'
import { grouped, readPlants } from '../../../formats/plants.ts'
import type { Entry } from '../../../formats/row.ts'
import { createPlants, explainRefusal, refusalOf } from '../create-plants.ts'
import type { Session } from '../session.ts'
import { notReadFrom, unusedColumns } from './analyze.ts'
import type { ImportInput } from './detect.ts'
import { createRefusals, type PlacedRow, type RefusedRow } from './refusals.ts'
import { replacePlants } from './replace-plants.ts'
import type { Import } from './state.ts'
import { reasonOf, WORDS } from './words.ts'

type Update = (change: (before: Import) => Partial<Import>) => void

/**
 * Creates the plants of a group, or replaces stored ones; returns the rows that were refused, by the file's reader or
 * by the service.
 */
async function send(
  group: readonly PlacedRow[],
  replaces: boolean,
  session: Session,
  signal: AbortSignal,
  update: Update,
): Promise<readonly RefusedRow[]> {
  const refused: RefusedRow[] = group.flatMap(({ entry, place }) =>
    'problem' in entry ? [{ line: entry.line, problem: entry.problem, entry, place }] : [],
  )
  const plants = group.flatMap(({ entry, place }) =>
    'plant' in entry ? [{ ...entry.plant, entry, place }] : [],
  )
  if (plants.length === 0) return refused
  const result = replaces
    ? await replacePlants(session, plants, signal)
    : await createPlants(session, plants, signal)
  if (!result.ok) throw new ClientError(result)
  const { created, known, replaced } = { replaced: 0, ...result.value }
  update((it) => ({
    created: it.created + created,
    known: it.known + known,
    replaced: it.replaced + replaced,
  }))
  for (const { plant, failure } of result.value.refused) {
    const { entry, place } = plant
    const problem = explainRefusal(plant, failure)
    refused.push({ line: entry.line, problem, entry, place })
  }
  return refused
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

/** Imports a file; `update` is called with each progress. Never rejects. */
export async function run(
  { opened, columns, replaces }: ImportInput,
  session: Session,
  signal: AbortSignal,
  update: Update,
): Promise<void> {
  const { table, rows } = opened
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
  const entries = readPlants({ ...table, lines }, columns, WORDS, (it) => notices.push(it))
  try {
    for await (const group of grouped(entries)) {
      if (signal.aborted) break
      const placedRows = placed(group)
      refuse(await send(placedRows, replaces, session, signal, update))
      update((it) => ({ rows: it.rows + placedRows.length, bytesRead }))
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
  update(({ notRead }) => ({
    notices,
    state: signal.aborted ? 'stopped' : notRead === null ? 'done' : 'failed',
  }))
}
