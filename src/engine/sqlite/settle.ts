// Finds out how a batch in doubt ended.

import { type Change, netEffect, type Outcome, type Row, type RowId } from '../change'
import type { preparePlants } from './plants'

type Plants = ReturnType<typeof preparePlants>

/** A batch whose COMMIT failed, and so did the overwrite: its outcomes, if the disk holds it; null if nobody knows. */
export type Doubt = {
  readonly changes: readonly Change[]
  readonly outcomes: readonly Outcome[] | null
}

function isStored(plants: Plants, id: RowId, row: Row | null): boolean {
  const plant = plants.read(BigInt(id))
  if (!plant || !row) return !plant && !row
  return plant.name === row[1] && (plant.tag ?? null) === row[2]
}

/**
 * The outcomes of a batch in doubt, decided for the batch as a whole, since it is one transaction: it was made if every
 * plant that it changed is as it left it; otherwise none of it was. (If both look alike, nobody can see a difference.)
 * null: its outcomes are not known.
 */
export function settle({ changes, outcomes }: Doubt, plants: Plants): readonly Outcome[] | null {
  if (!outcomes) return null
  const left = [...netEffect(changes, outcomes)]
  const isMade = left.every(([id, row]) => isStored(plants, id, row))
  return isMade ? outcomes : changes.map(() => ({ error: 50302 }))
}
