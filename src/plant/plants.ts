// The contract of plants in a store: creating, reading, listing, changing and removing them.

import type { Precondition } from './entity-tag'
import type { ChangedTexts, Int64, Plant, PlantUpdate } from './plant'

export const ORDERS = ['asc', 'desc'] as const
/** The order of ids in a list. */
export type Order = (typeof ORDERS)[number]

/** The conditions that each plant of a list meets. */
export type PlantFilter = {
  /** Exactly this tag. */
  readonly tag?: string | undefined
  /** true: any tag; false: none. */
  readonly tagged?: boolean | undefined
  /** Parts of the name, in any order; case-insensitive for A to Z. */
  readonly names?: readonly string[] | undefined
}

/** A query for a page of plants: at most `limit`, after the id `after`. */
export type PlantQuery = PlantFilter & {
  /** Ascending by default. */
  readonly order?: Order | undefined
  /** In descending order, ids below this one. Null for the first page. */
  readonly after?: Int64 | null | undefined
  readonly limit: number
}

/** Plants in the requested order; the next page begins after the id `next`, null on the last page. */
export type Page = { readonly plants: readonly Plant[]; readonly next: Int64 | null }

/** A query for a page of tags: at most `limit`, after the tag `after`. */
export type TagQuery = {
  /** Any text, as the empty text is a tag. Null for the first page. */
  readonly after?: string | null | undefined
  readonly limit: number
}

/** A tag, and the number of plants that have it. */
export type TagCount = { readonly tag: string; readonly plants: number }

/**
 * Tags in the order of their code points; the next page begins after `next`, null on the last page: the last tag, or
 * another text before the following tag if the last one is very long or empty. It is empty only between the tag U+0001
 * and the empty one.
 */
export type TagPage = { readonly tags: readonly TagCount[]; readonly next: string | null }

/** The author of a change. A command sets its name as `request`. */
export type Origin = {
  /** The name of the token. */
  readonly token: string | null
  readonly address: string | null
  readonly request: string | null
}

/** Options of creating plants. */
export type CreateOptions = {
  readonly signal?: AbortSignal
  /** Recorded in the change log. */
  readonly origin?: Origin
}

/** Counts of a batch: plants that were new, that differed, and that were stored already. */
type PutCounts = {
  readonly created: number
  readonly replaced: number
  readonly unchanged: number
}

/** The result of a batch of deletes: the number of deleted plants, and the ids of the others. */
type DeleteCounts = {
  readonly deleted: number
  /** Stored with other fields, and left alone. */
  readonly conflicts: readonly Int64[]
  /** Not stored. Of a patch: and not created, without a name or with a condition. */
  readonly missing: readonly Int64[]
}

/** The result of a batch of patches. */
type PatchCounts = Pick<PutCounts, 'created' | 'unchanged'> &
  Pick<DeleteCounts, 'conflicts' | 'missing'> & {
    /** Plants that differed. */
    readonly patched: number
  }

/** Options of changing a stored plant. */
export type ChangeOptions = CreateOptions & {
  /** Checked in the commit that makes the change, so that no other change intervenes. */
  readonly precondition?: Precondition | null
}

/**
 * The plants of a store. Changes take effect in the order of the calls; a read sees every change that resolved before
 * it was called. A change whose signal is aborted before it is written, because its client disconnected, is not made.
 */
export interface Plants {
  /** Adds a plant. `stored already`: it already exists with the same fields; `taken`: its id has other fields. */
  createPlant(plant: Plant, options?: CreateOptions): Promise<void>
  /** Adds all plants or none. `stored already` and `taken` name the first plant that could not be added. */
  createPlants(plants: readonly Plant[], options?: CreateOptions): Promise<void>
  /**
   * Creates new plants and replaces those that differ: all or none. An unchanged plant is not written, and has no entry
   * in the change log. If plants share an id, the last counts.
   */
  putPlants(plants: readonly Plant[], options?: CreateOptions): Promise<PutCounts>
  /**
   * Changes the fields that are given, in one commit. A plant that is not stored is created if it has a name and no
   * condition. One whose stored fields differ from those in `was` is left as it is, and listed. An unchanged plant is
   * not written, and has no entry in the change log.
   */
  patchPlants(updates: readonly PlantUpdate[], options?: CreateOptions): Promise<PatchCounts>
  /** Removes the plants that are stored with exactly these fields, in one commit; leaves those that differ. */
  deletePlants(plants: readonly Plant[], options?: CreateOptions): Promise<DeleteCounts>
  /**
   * Replaces all fields of the plant with this id. `no such plant`: there is none; `precondition failed`: the
   * precondition fails.
   */
  replacePlant(plant: Plant, options?: ChangeOptions): Promise<void>
  /** Changes some fields of a plant. Resolves to the changed plant. Rejects like `replacePlant`. */
  patchPlant(id: Int64, patch: ChangedTexts, options?: ChangeOptions): Promise<Plant>
  /** Removes a plant. Rejects like `replacePlant`. */
  deletePlant(id: Int64, options?: ChangeOptions): Promise<void>
  /** The plant with this id; null if there is none. */
  readPlant(id: Int64): Promise<Plant | null>
  /**
   * A page. To save memory it has fewer plants than its limit if they are very long, but at least one. A search by name
   * reads a few thousand plants at most, to yield to others: its page may be short or empty although more follow.
   * Rejects if its signal is aborted before its turn.
   */
  listPlants(query: PlantQuery, signal?: AbortSignal): Promise<Page>
  /**
   * The tags that plants have, each with their exact number as of one moment. To save memory a page has fewer tags than
   * its limit if they are very long, but at least one. Rejects if its signal is aborted before it ends.
   */
  listTags(query: TagQuery, signal?: AbortSignal): Promise<TagPage>
  /** The number of plants as counted by commits; null if another program has removed it. */
  countPlants(): Promise<number | null>
}
