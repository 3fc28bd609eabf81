// Settles a batch in doubt: determines whether the disk holds it, once the disk can be read again.

import { isSame, type PlantRow, type RowId, toRow } from '../../../plant/row'
import { netEffect } from '../../commit/kinds'
import type { Outcome, Write } from '../../commit/write'
import type { LastEntry } from '../reading/change-log'
import type { ServingConnection } from '../serving'

/** A batch whose COMMIT and overwrite failed: its outcomes, if the disk holds it; null if they are unknown. */
export type Doubt = {
  readonly batch: readonly Write[]
  readonly outcomes: readonly Outcome[] | null
  /** The last entry that the batch adds to the change log; null if there is none. */
  readonly lastEntry: LastEntry | null
}

function isStored(plants: ServingConnection['plants'], id: RowId, row: PlantRow | null): boolean {
  const plant = plants.read(BigInt(id))
  return plant && row ? isSame(toRow(plant), row) : !plant && !row
}

/**
 * The outcomes of a batch in doubt. As one transaction, it was made if its last entry is in the change log; without a
 * change log, if every plant is as the batch left it. Otherwise none of it was made. (If both states look alike,
 * clients see no difference.) null: its outcomes are not known.
 */
export function settle(
  { batch, outcomes, lastEntry }: Doubt,
  { plants, changeLog }: Pick<ServingConnection, 'plants' | 'changeLog'>,
): readonly Outcome[] | null {
  if (!outcomes) return null
  const isMade = lastEntry
    ? changeLog.has(lastEntry)
    : [...netEffect(batch, outcomes)].every(([id, row]) => isStored(plants, id, row))
  return isMade ? outcomes : batch.map(() => ({ error: 'cannot write' }))
}

/** The batches in doubt of one storage, and the probes sent after them. */
export class Doubts {
  #doubts: (Doubt & PromiseWithResolvers<readonly Outcome[]>)[] = []

  /**
   * The outcomes of a batch in doubt, once it is settled. If they cannot be known, it never resolves, and its clients
   * get no answer.
   */
  promiseOutcomes(doubt: Doubt): Promise<readonly Outcome[]> {
    const pending = { ...doubt, ...Promise.withResolvers<readonly Outcome[]>() }
    this.#doubts.push(pending)
    return pending.promise
  }

  /** Settles all of them with a connection that has read the disk again. */
  settle(connection: ServingConnection): void {
    for (const doubt of this.#doubts) {
      const outcomes = settle(doubt, connection)
      if (outcomes) doubt.resolve(outcomes)
    }
    this.#doubts = []
  }
}
