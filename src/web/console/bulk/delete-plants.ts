// Deletes plants in batches: each is deleted if it is still as the table showed it.

import type { Client, NewPlant } from '../../../client/client.ts'
import { plantText } from '../../../client/json.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { Session } from '../session.ts'
import { inBatches } from './batch.ts'
import { type BulkAction, changePlant, putBack, readAgain, type Skipped } from './bulk-action.ts'

const MAX_PLANTS = 1000
// A body of the default limit has room for three times as many bytes.
const MAX_BYTES = 300_000
// Browsers send this much, all requests together, after a page is left
// (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch).
const MAX_BYTES_ON_LEAVING = 60_000
const TOO_LARGE = 41301
const DELETION: BulkAction = {}

const encoder = new TextEncoder()
const bytesOf = (plant: NewPlant): number => encoder.encode(plantText(plant)).length + 1

/** True if plants can be deleted while the page is left. */
export const fitsLeaving = (plants: readonly NewPlant[]): boolean => {
  let bytes = 0
  return plants.every((plant) => {
    bytes += bytesOf(plant)
    return bytes <= MAX_BYTES_ON_LEAVING
  })
}

/** Plants in groups, of which each fits into a request. */
function* groupsOf(plants: readonly NewPlant[], most = MAX_BYTES): Generator<NewPlant[]> {
  let group: NewPlant[] = []
  let bytes = 0
  for (const plant of plants) {
    const more = bytesOf(plant)
    if (group.length > 0 && (group.length === MAX_PLANTS || bytes + more > most)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(plant)
    bytes += more
  }
  if (group.length > 0) yield group
}

/** Sends the deletions at once; the answers are lost. */
export function sendDeletions(client: Client, plants: readonly NewPlant[]): void {
  for (const group of groupsOf(plants, MAX_BYTES_ON_LEAVING)) void client.deletePlants(group)
}

/**
 * Deletes plants; yields those of each request, null for each that is gone. After a refusal, which would hit all others
 * too, nothing more is sent.
 */
export async function* deletePlants(
  session: Session,
  list: PlantList,
  plants: readonly NewPlant[],
): AsyncGenerator<readonly (Skipped | null)[], void, void> {
  const groups = [...groupsOf(plants)]
  for (let group = groups.shift(); group; group = groups.shift()) {
    const sent = group
    const result = await session.persist((client) => client.deletePlants(sent))
    if (result.ok) {
      const changed = new Set(result.value.changed.map(({ id }) => id))
      const gone = sent.filter(({ id }) => !changed.has(id))
      for (const { id } of gone) list.rows.settle(id)
      yield gone.map(() => null)
      const left = sent.filter(({ id }) => changed.has(id))
      yield* inBatches(left, (plant) => readAgain(session, list, DELETION, plant))
    } else if (result.error !== TOO_LARGE) {
      yield putBack(list, [...sent, ...groups.splice(0).flat()], result)
    } else if (sent.length === 1) {
      // No batch has room for it.
      for (const plant of sent)
        yield [await changePlant(session, list, plant, { action: DELETION })]
    } else {
      const half = Math.ceil(sent.length / 2)
      groups.unshift(sent.slice(0, half), sent.slice(half))
    }
  }
}
