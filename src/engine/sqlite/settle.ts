import type { Outcome } from '../group-commit'
import type { Change, Row } from './apply-change'
import type { preparePlants } from './plants'

type Plants = ReturnType<typeof preparePlants>

const isStored = (plants: Plants, [id, name, tag]: Row): boolean => {
  const plant = plants.read(BigInt(id))
  return plant?.name === name && (plant.tag ?? null) === tag
}

function isMade(change: Change, plants: Plants): boolean {
  switch (change[0]) {
    case 'create':
    case 'replace':
      return isStored(plants, change[1])
    case 'createAll':
      return change[1].every((row) => isStored(plants, row))
    case 'delete':
      return plants.read(BigInt(change[1])) === null
    case 'probe':
      return true
  }
}

/**
 * How a change ended whose commit failed in a way that leaves it open, by what the disk holds now: done where that is
 * as the change would have it, else not stored.
 */
export const settle = (change: Change, plants: Plants): Outcome =>
  isMade(change, plants) ? null : { error: 50302 }
