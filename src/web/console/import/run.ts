// Sends the plants of a file, a group at a time, and says what became of each row.

import {
  type BatchOutcome,
  ClientError,
  type NewPlant,
  type Result,
} from '../../../client/client.ts'
import { grouped, readPlants } from '../../../formats/plants.ts'
import { createRefusedWriter } from '../../../formats/refused.ts'
import type { Entry } from '../../../formats/row.ts'
import { createBatch, explainRefusal } from '../batch.ts'
import type { Session } from '../session.ts'
import { breathe } from './breathe.ts'
import { notReadFrom, unusedColumns } from './examine.ts'
import type { Plan } from './plan.ts'
import type { Import, Refused } from './state.ts'
import { reasonOf, WORDS } from './words.ts'

/** How many refused rows are kept for the page; all of them can be saved. */
const REFUSED_KEPT = 1000

/** An entry and its number among all rows, from 0. */
type Placed = { readonly entry: Exclude<Entry, { stop: string }>; readonly place: bigint }

/** Creates plants, with retries: a plant that is sent twice counts as already stored. */
const createPlants = <P extends NewPlant>(
  session: Session,
  plants: readonly P[],
  signal: AbortSignal,
) =>
  session.persist(async (client): Promise<Result<BatchOutcome<P>>> => {
    try {
      return { ok: true, value: await createBatch(client, plants, signal) }
    } catch (error) {
      if (error instanceof ClientError) return error.failure
      throw error
    }
  }, signal)

/** Imports a file; `update` gets what is known of it, again and again. Never rejects. */
export async function run(
  { opened, columns }: Plan,
  session: Session,
  signal: AbortSignal,
  update: (change: (before: Import) => Partial<Import>) => void,
): Promise<void> {
  const { table, rows } = opened
  const pause = breathe()
  const writer = createRefusedWriter(table, columns)
  const texts: BlobPart[] = []
  const unused = unusedColumns(table, columns)
  const notices = unused === null ? [] : [unused]
  let bytesRead = 0
  let place = 0n

  function refuse(all: readonly (Refused & Placed)[]): void {
    const sorted = all.toSorted((a, b) => a.line - b.line)
    const text = sorted.map((it) => writer.row(it.entry.source, it.problem, it.place)).join('')
    texts.push(new Blob([texts.length === 0 ? writer.header + text : text]))
    update(({ refused, lines }) => ({
      refused: refused + sorted.length,
      lines: [...lines, ...sorted.map(({ line, problem }) => ({ line, problem }))].slice(
        0,
        REFUSED_KEPT,
      ),
      refusedRows: () => new Blob(texts),
    }))
  }

  async function send(group: readonly Placed[]): Promise<void> {
    const refused: (Refused & Placed)[] = group.flatMap(({ entry, place }) =>
      'problem' in entry ? [{ line: entry.line, problem: entry.problem, entry, place }] : [],
    )
    const plants = group.flatMap(({ entry, place }) =>
      'plant' in entry ? [{ ...entry.plant, entry, place }] : [],
    )
    if (plants.length > 0) {
      const result = await createPlants(session, plants, signal)
      if (!result.ok) throw new ClientError(result)
      const { created, known } = result.value
      update((it) => ({ created: it.created + created, known: it.known + known }))
      for (const { plant, failure } of result.value.refused) {
        const { entry, place } = plant
        refused.push({
          line: entry.line,
          problem: explainRefusal(plant, failure.message),
          entry,
          place,
        })
      }
    }
    if (refused.length > 0) refuse(refused)
    update((it) => ({ rows: it.rows + group.length, bytesRead }))
  }

  function placed(group: readonly Entry[]): Placed[] {
    const all: Placed[] = []
    for (const entry of group) {
      if ('stop' in entry) {
        update(() => ({ notRead: notReadFrom(entry.line, entry.stop), isOfFile: true }))
      } else {
        all.push({ entry, place })
        place += 1n
      }
    }
    return all
  }

  const lines = rows((count) => {
    bytesRead += count
  })
  const entries = readPlants({ ...table, lines }, columns, WORDS, (it) => notices.push(it))
  try {
    for await (const group of grouped(entries)) {
      if (signal.aborted) break
      await send(placed(group))
      await pause()
    }
  } catch (error) {
    const isOfService = error instanceof ClientError
    const reason = isOfService ? error.message : reasonOf(error)
    if (!signal.aborted) update(() => ({ notRead: `the rest: ${reason}`, isOfFile: !isOfService }))
  }
  if (signal.aborted) update(() => ({ notRead: 'the rest, because it was stopped' }))
  update(({ notRead }) => ({
    notices,
    state: signal.aborted ? 'stopped' : notRead === null ? 'done' : 'failed',
  }))
}
