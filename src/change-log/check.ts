// Compares the change log with the stored plants. Where they differ, another program has changed one of them.

import type { PlantFields } from '../plant/plant'
import { type PlantRecord, type PlantRow, type RowId, toRow, toRowId } from '../plant/row'
import { type EntryRow, fromJson, rowToJson } from './entry'

/** A plant that another program has changed: as its last entry left it, and as it is stored. null: no plant. */
export type Edit = {
  readonly id: RowId
  readonly loggedRow: PlantRow | null
  readonly storedRow: PlantRow | null
}

/** The differences between a store and its records of itself; none of them is damage. */
export type Differences = {
  /** The differences that {@link Store.accept} does not settle, one line each. */
  readonly lines: readonly string[]
  readonly edits: readonly Edit[]
  /** The number of plants less the recorded one. */
  readonly countDifference: number
  /** Number of entries that do not follow from the one before: a plant was edited in between, and changed again. */
  readonly unloggedEdits: number
}

export const NO_DIFFERENCES: Differences = {
  lines: [],
  edits: [],
  countDifference: 0,
  unloggedEdits: 0,
}

/** The number of the last entry; and the smallest, the greatest and the count of the numbers found. */
export type FoundNumbers = {
  readonly last: bigint
  readonly first: bigint | null
  readonly top: bigint | null
  readonly count: bigint
}

/** True if the numbers of a change log are gapless up to the last. */
export const isWhole = ({ first, top, last, count }: FoundNumbers): boolean =>
  first === null || top === null || (top === last && top - first + 1n === count)

const BEGIN_ANEW = 'to begin a new one, restart with --keep-changes off, then with the period'
export const LACKS_ENTRIES = `the change log lacks entries; ${BEGIN_ANEW}`
export const WRONG_SIZE = `the recorded size of the change log is wrong; ${BEGIN_ANEW}`
export const describeDamagedEntry = (number: bigint): string =>
  `entry ${number} of the change log is damaged; ${BEGIN_ANEW}`

/** Maximum number of differences that a check names: there could be as many as plants. */
export const MAX_NAMED = 10

/** An entry, and the stored plant; a name of null: there is none. */
export type Link = Pick<EntryRow, 'number' | 'plant' | 'before' | 'after'> &
  Omit<PlantRecord, 'id' | 'name'> & { readonly name: string | null }

/** The fields of a plant in an entry; null: no plant, or a damaged text. */
function loggedFields(text: string | null): PlantFields | null {
  try {
    return fromJson(text)
  } catch {
    return null
  }
}

function editOf({ plant, after, ...link }: Link): Edit[] {
  const { name } = link
  const storedRow = name === null ? null : toRow({ ...link, id: plant, name })
  if (rowToJson(storedRow) === after) return []
  const fields = loggedFields(after)
  return [{ id: toRowId(plant), loggedRow: fields && toRow({ ...fields, id: plant }), storedRow }]
}

/** Finds the edits in all entries, ordered by plant and number. */
export function createLinkCheck() {
  const edits: Edit[] = []
  let unloggedEdits = 0
  let last: Link | undefined

  function end(): void {
    if (last) edits.push(...editOf(last))
    last = undefined
  }

  return {
    end,
    see(link: Link): void {
      if (last?.plant !== link.plant) end()
      else if (last.after !== link.before) unloggedEdits += 1
      last = link
    },
    edits,
    unlogged: () => unloggedEdits,
  }
}

const sentenceOf = ({ id }: Edit): string =>
  `plant ${id} differs from its last entry in the change log`

/** The differences of a store with this number of plants, one line each: at most {@link MAX_NAMED}, and one of the count. */
export function describeDifferences(
  { lines, edits, countDifference }: Differences,
  plants: number,
): string[] {
  const sentences = [...lines, ...edits.map(sentenceOf)].slice(0, MAX_NAMED)
  if (countDifference === 0) return sentences
  return [
    ...sentences,
    `the recorded number of plants is ${plants - countDifference}, but ${plants} are stored`,
  ]
}

/** True if "plantstore accept" settles a difference. */
export const canAccept = ({ edits, countDifference }: Differences): boolean =>
  edits.length > 0 || countDifference !== 0
