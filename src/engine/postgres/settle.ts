// How the steps ended that were under way when their connection was lost, as the fence of their lane tells.

import { PlantError } from '../../errors'
import type { Log } from '../../log'
import type { Counters } from './counters'
import type { Fence } from './lane'
import type { Run } from './run'

// Somebody emptied the table or restored an older one, or a standby took over that never had the row.
const GONE = 'the row of this process in the table "lanes" is gone'
const UNKNOWN = 'the server lost the record of this change: it may or may not be stored'

// The others were refused, or found the lane elsewhere: they were not made.
const isInDoubt = ({ failure }: Run): boolean => failure === null || failure.kind === 'doubt'

/**
 * Ends those steps of a flight that were made, and those of which nobody knows. Returns the others: they never will be made,
 * and can be sent again. `confirmed`: the last step that the server has confirmed.
 */
export function settle(
  flight: readonly Run[],
  { made, refused }: Fence,
  confirmed: number,
  counters: Counters,
  log: Log,
): Run[] {
  const lost = confirmed - (made ?? 0)
  if (lost > 0) {
    counters.lostCommits += lost
    log('error', 'acknowledged-lost', { commits: lost })
  }
  const inDoubt = flight.filter(isInDoubt)
  if (made === null) {
    if (inDoubt.length > 0) log('error', 'unexpected', { detail: GONE })
    for (const { reject } of inDoubt) reject(new PlantError(50001, UNKNOWN))
    return flight.filter((run) => !isInDoubt(run))
  }
  for (const { seq, finish } of inDoubt) {
    const isMade = seq <= made
    counters[isMade ? 'inDoubtMade' : 'inDoubtNotMade'] += 1
    log('warn', 'commit-settled', { made: isMade })
    if (isMade) finish(refused[made - seq] ?? '')
  }
  return flight.filter((run) => !isInDoubt(run) || run.seq > made)
}
