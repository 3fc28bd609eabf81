// Sends changes of many plants in requests that fit, in halves where one is refused for its plants.

import { ERRORS, type Failure, type NewPlant, type Result } from '../../client/client.ts'
import { plantText } from '../../client/json.ts'

const MAX_CHANGES = 1000
// A body of the default limit has room for three times as many bytes.
const MAX_BYTES = 300_000
// Errors caused by single plants, or by the size of the request.
const PLANT_ERRORS: readonly number[] = [ERRORS.invalid, ERRORS['too large']]

/** True if another request, with fewer plants, may be accepted. */
export const isOfPlants = ({ error }: Failure): boolean => PLANT_ERRORS.includes(error)

const ENCODER = new TextEncoder()
const bytesOf = (plant: NewPlant): number => ENCODER.encode(plantText(plant)).length + 1

/** Changes in groups, of which each fits into a request. */
function groupsOf<C>(changes: readonly C[], plantsOf: (change: C) => readonly NewPlant[]): C[][] {
  const groups: C[][] = []
  let group: C[] = []
  let bytes = 0
  for (const change of changes) {
    const more = plantsOf(change).reduce((sum, plant) => sum + bytesOf(plant), 0)
    if (group.length === 0 || group.length === MAX_CHANGES || bytes + more > MAX_BYTES) {
      group = []
      groups.push(group)
      bytes = 0
    }
    group.push(change)
    bytes += more
  }
  return groups
}

/** Sends changes; yields the result of each request that was not sent again in halves. */
export async function* sendGroups<C, R extends Result<unknown>>(
  changes: readonly C[],
  plantsOf: (change: C) => readonly NewPlant[],
  send: (group: readonly C[]) => Promise<R>,
): AsyncGenerator<{ readonly group: readonly C[]; readonly result: R }, void, void> {
  const groups = groupsOf(changes, plantsOf)
  for (let group = groups.shift(); group; group = groups.shift()) {
    const result = await send(group)
    if (result.ok || group.length === 1 || !isOfPlants(result)) {
      yield { group, result }
    } else {
      const half = Math.ceil(group.length / 2)
      groups.unshift(group.slice(0, half), group.slice(half))
    }
  }
}
