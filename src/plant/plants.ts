// The contract of plants in a store: how they are created, read, listed, changed and removed.

import type { Precondition } from './entity-tag'
import type { ChangedTexts, Int64, Plant } from './plant'

export const ORDERS = ['asc', 'desc'] as const
/** The order of ids in a list. */
export type Order = (typeof ORDERS)[number]

/** The plants of a page: at most `limit`, after the id `after`, and with the tag and the part of a name if given. */
export type PlantQuery = {
  /** Ascending, if not given. */
  readonly order?: Order | undefined
  /** With descending ids, those below it. */
  readonly after: Int64 | null
  readonly limit: number
  readonly tag: string | null
  /** The case of A to Z is ignored. */
  readonly name: string | null
}

/** Plants in the order that was asked for; the next page begins after the id `next`. null: no more follow. */
export type Page = { readonly plants: readonly Plant[]; readonly next: Int64 | null }

/** Who asked for a change. A command gives its name as `request`. */
export type Origin = {
  /** The name of the token. */
  readonly token: string | null
  readonly address: string | null
  readonly request: string | null
}

/** How plants are created. */
export type CreateOptions = {
  readonly signal?: AbortSignal
  /** For the change log. */
  readonly origin?: Origin
}

/** How many plants of a batch were new, differed, and were stored already as they are. */
export type PutCounts = {
  readonly created: number
  readonly replaced: number
  readonly unchanged: number
}

/** How a stored plant is changed. */
export type ChangeOptions = CreateOptions & {
  /** Checked in the commit that makes the change, so that no other change comes between. */
  readonly precondition?: Precondition
}

/**
 * The plants of a store. Changes take effect in the order of the calls; a read sees every change that resolved before it was
 * called. A change whose signal is aborted before it is written, because its client has gone, is not made.
 */
export interface Plants {
  /** Adds a plant. 40901: it exists already with the same fields; 40902: its id has other fields. */
  createPlant(plant: Plant, options?: CreateOptions): Promise<void>
  /** Adds all plants or none. 40901 and 40902 name the first plant that could not be added. */
  createPlants(plants: readonly Plant[], options?: CreateOptions): Promise<void>
  /**
   * Creates those that are new and replaces those that differ: all or none. What is unchanged is not written, and has no entry
   * in the change log. If plants share an id, the last counts.
   */
  putPlants(plants: readonly Plant[], options?: CreateOptions): Promise<PutCounts>
  /** Replaces all fields of the plant with this id. 40402: there is none; else 41201: the precondition fails. */
  replacePlant(plant: Plant, options?: ChangeOptions): Promise<void>
  /** Changes some fields of a plant. Resolves to the plant as it left it. Refuses like `replacePlant`. */
  patchPlant(id: Int64, patch: ChangedTexts, options?: ChangeOptions): Promise<Plant>
  /** Removes a plant. Refuses like `replacePlant`. */
  deletePlant(id: Int64, options?: ChangeOptions): Promise<void>
  /** The plant with this id; null if there is none. */
  readPlant(id: Int64): Promise<Plant | null>
  /**
   * A page. It has fewer plants than its limit if they are very long, to save memory, but at least one. A search by name
   * walks a few thousand plants at most, to let others have their turn: its page may be short or empty, and more follow.
   * Not read if its signal is aborted before its turn.
   */
  listPlants(query: PlantQuery, signal?: AbortSignal): Promise<Page>
  /** How many plants there are, as commits have counted them; null if another program has removed the number. */
  countPlants(): Promise<number | null>
}
