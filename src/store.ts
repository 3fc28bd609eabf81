import type { Precondition } from './entity-tag'
import type { Int64, NewPlant } from './plant'
import type { Token } from './token'

/** What a page of plants is to be: those with an id above `after`, and with the tag if one is given; at most `limit`. */
export type PlantQuery = {
  readonly after: Int64 | null
  readonly limit: number
  readonly tag: string | null
}

/** A place in the order of names: behind the plant that has, or had, this name and id. */
export type NamePlace = { readonly name: string; readonly id: Int64 }

/** What a page of plants found by their names is to be: those whose names begin with `prefix`, code point by code point. */
export type NameQuery = {
  readonly prefix: string
  /** Its name begins with the prefix; null: the page is the first. */
  readonly after: NamePlace | null
  readonly limit: number
}

/** Plants in the order that was asked for, ascending by their ids if none was, and whether there are more behind them. */
export type PlantPage = { readonly plants: readonly NewPlant[]; readonly hasMore: boolean }

/** What a patch changes of a plant; null removes the tag (RFC 7396). */
export type PlantPatch = { readonly name?: string; readonly tag?: string | null }

/** How a plant that is stored is to be changed. */
export type ChangeOptions = {
  readonly signal?: AbortSignal
  /** Checked in the commit that makes the change: nothing comes between. */
  readonly precondition?: Precondition
}

/** What the store can say of itself for metrics. Sizes are bytes. */
export type StoreStats = {
  /** Whether changes can be made durable: false in an outage, and while the log cannot be checkpointed. */
  readonly isWritable: boolean
  readonly queued: number
  /** null: the storage does not tell. */
  readonly databaseBytes: number | null
  readonly walBytes: number | null
  /** Where the storage is a server. */
  readonly server?: ServerStats
}

/** What a store has counted of its database server since it was opened. */
export type ServerStats = {
  /** Batches that were sent again, as others had written the same rows. */
  readonly retries: number
  /** Commits whose answer was lost, by what became of them. */
  readonly inDoubtMade: number
  readonly inDoubtNotMade: number
  /** Times that a lost server was found again. */
  readonly reconnects: number
  /** Times that another host than before was found. */
  readonly failovers: number
  /** Commits that the server had confirmed and lost: it must never have any. */
  readonly lostCommits: number
}

/**
 * How plants are kept; the contract of every engine.
 *
 * Each method may reject with a {@link PlantError}: 50301 where too much is queued, 50302 where the storage fails,
 * 50701 where the disk is full, or one that it names itself. Whatever it rejects with, nothing was stored; but where the
 * storage failed under a command, which does not wait for it to heal, that is not known.
 * A method that changes something resolves when the change is durable: it outlasts the process and a loss of power.
 * Changes take effect in the order of the calls; a read sees every change that resolved before it was called.
 * A change whose signal is aborted before it is written, because its client has gone, is not made.
 */
export interface Store {
  /** Adds a plant. 40901: it exists already with the same fields; 40902: its id has other fields. */
  createPlant(plant: NewPlant, signal?: AbortSignal): Promise<void>
  /** Adds all plants or none. 40901 and 40902 name the first plant that could not be added. */
  createPlants(plants: readonly NewPlant[], signal?: AbortSignal): Promise<void>
  /** Replaces the name and the tag of the plant with this id. 40402: there is none; else 41201: the precondition fails. */
  replacePlant(plant: NewPlant, options?: ChangeOptions): Promise<void>
  /** Changes some fields of a plant. Resolves to the plant as it left it. Refuses like `replacePlant`. */
  patchPlant(id: Int64, patch: PlantPatch, options?: ChangeOptions): Promise<NewPlant>
  /** Removes a plant. Refuses like `replacePlant`. */
  deletePlant(id: Int64, options?: ChangeOptions): Promise<void>
  /** The plant with this id; null where there is none. */
  readPlant(id: Int64): Promise<NewPlant | null>
  /** A page; it has fewer plants than its limit, but one at least, where they are so long that it would take much memory. */
  listPlants(query: PlantQuery): Promise<PlantPage>
  /**
   * A page of plants by the beginning of their names, in the order of the names' UTF-8 bytes, then of ids. It costs the
   * same whatever the store holds. 40002: the store has no index of names.
   */
  findPlants(query: NameQuery): Promise<PlantPage>

  /** The token with this hash (see `hashToken`), be it valid or not; null where there is none. */
  findToken(hash: string): Promise<Token | null>
  /**
   * Adds a token. Resolves to false, and adds none, where a token of this name is valid when the new one is created. One
   * that has expired gives its name away: it is revoked at the time of its expiry.
   */
  createToken(token: Token): Promise<boolean>
  /** Every token, the oldest first. */
  listTokens(): Promise<Token[]>
  /** Revokes the token of this name at a time. Resolves to false where there is none that is not revoked yet. */
  revokeToken(name: string, now: number): Promise<boolean>
  /** Removes the tokens that were revoked or had expired by a time. Resolves to how many. */
  pruneTokens(by: number): Promise<number>
  /**
   * Notes that a token was used now, to the hour: one change per token and hour, however often it is called. Nobody waits
   * for it; where it fails, this hour's use is not noted.
   */
  recordUse(token: Token, now: number): void

  /**
   * Resolves where the store can write, as a write within the last second or now shows; rejects with the reason why not.
   * It does not wait behind the queue: a busy store is well, and so is one whose disk stalls for some seconds.
   */
  probe(): Promise<void>
  stats(): StoreStats
  /** Commits what is queued, where the storage works, then closes it. */
  close(): Promise<void>
}
