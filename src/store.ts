import type { Precondition } from './plant/entity-tag'
import type { ChangedTexts, Int64, NewPlant, Plant } from './plant/plant'
import type { Token } from './token'

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
export type Page = { readonly plants: readonly NewPlant[]; readonly next: Int64 | null }

/** How plants are created. */
export type CreateOptions = {
  readonly signal?: AbortSignal
  /** For the journal. */
  readonly origin?: Origin
}

/** How a stored plant is changed. */
export type ChangeOptions = CreateOptions & {
  /** Checked in the commit that makes the change, so that no other change comes between. */
  readonly precondition?: Precondition
}

/** The state of a store, for metrics. Sizes are in bytes. */
export type StoreStats = {
  /** Whether changes can be made durable: false in an outage, and while the write-ahead log cannot be checkpointed. */
  readonly isWritable: boolean
  readonly queued: number
  /** null: not known, as with a server. */
  readonly databaseBytes: number | null
  readonly walBytes: number | null
  /** What the file system of the database has left for this user. */
  readonly freeBytes: number | null
  /** Only if the storage is a server. */
  readonly server?: ServerStats
}

/** The findings of a check of a store. */
export type Findings = {
  readonly schemaVersion: number
  readonly plants: number
  readonly tokens: number
  /** What is wrong, one line each; empty if all is well. */
  readonly problems: readonly string[]
}

/** What a store has counted of its database server since it was opened. */
export type ServerStats = {
  /** Batches that were sent again because others had written the same rows. */
  readonly retries: number
  /** Commits whose answer was lost, by what became of them. */
  readonly inDoubtMade: number
  readonly inDoubtNotMade: number
  /** Times that a lost server was found again. */
  readonly reconnects: number
  /** Times that a different host was found. */
  readonly failovers: number
  /** Commits that the server had confirmed and then lost: there should never be any. */
  readonly lostCommits: number
}

/**
 * A store of plants: the contract of every engine.
 *
 * Each method may reject with a {@link ApiError}: 50301 if too much is queued, 50302 if the storage fails, 50701 if the
 * disk is full, or an error that the method documents. A rejection means that nothing was stored, with one exception: a
 * command does not wait for failed storage to heal, so its last changes may have been stored.
 * A method that changes something resolves when the change is durable: it survives the end of the process and a loss of
 * power.
 * Changes take effect in the order of the calls; a read sees every change that resolved before it was called.
 * A change whose signal is aborted before it is written, because its client has gone, is not made.
 */
export interface Store {
  /** undefined: none is kept. Ask again for each use: another process may begin or end it. */
  readonly journal?: Journal | undefined
  /** Adds a plant. 40901: it exists already with the same fields; 40902: its id has other fields. */
  createPlant(plant: NewPlant, options?: CreateOptions): Promise<void>
  /** Adds all plants or none. 40901 and 40902 name the first plant that could not be added. */
  createPlants(plants: readonly NewPlant[], options?: CreateOptions): Promise<void>
  /** Replaces the name and the tag of the plant with this id. 40402: there is none; else 41201: the precondition fails. */
  replacePlant(plant: NewPlant, options?: ChangeOptions): Promise<void>
  /** Changes some fields of a plant. Resolves to the plant as it left it. Refuses like `replacePlant`. */
  patchPlant(id: Int64, patch: ChangedTexts, options?: ChangeOptions): Promise<NewPlant>
  /** Removes a plant. Refuses like `replacePlant`. */
  deletePlant(id: Int64, options?: ChangeOptions): Promise<void>
  /** The plant with this id; null if there is none. */
  readPlant(id: Int64): Promise<NewPlant | null>
  /**
   * A page. It has fewer plants than its limit if they are very long, to save memory, but at least one. A search by name
   * walks a few thousand plants at most, to let others have their turn: its page may be short or empty, and more follow.
   */
  listPlants(query: PlantQuery): Promise<Page>
  /** How many plants there are, as commits have counted them; null if another program has removed the number. */
  countPlants(): Promise<number | null>

  /** The token with this hash (see `hashToken`), valid or not; null if there is none. */
  findToken(hash: string): Promise<Token | null>
  /**
   * Adds a token. Resolves to false, and adds none, if a valid token has this name when the new one is created. An expired
   * token gives up its name: it counts as revoked at the time of its expiry.
   */
  createToken(token: Token): Promise<boolean>
  /** Every token, the oldest first. */
  listTokens(): Promise<Token[]>
  /** Revokes the token of this name at a time. Resolves to false if there is none, or it is revoked already. */
  revokeToken(name: string, now: number): Promise<boolean>
  /** Removes tokens that were revoked or had expired by a time. Resolves to their number. */
  pruneTokens(by: number): Promise<number>
  /**
   * Records that a token was used, to the hour: one change per token and hour, however often it is called. Nobody waits
   * for it; if it fails, this hour's use is not recorded.
   */
  recordUse(token: Token, now: number): void

  /**
   * Resolves if the store can write, as a write now or within the last second shows; otherwise rejects with the reason.
   * It does not wait behind the queue: a busy store is healthy, and so is one whose disk stalls for a few seconds.
   */
  probe(): Promise<void>
  stats(): StoreStats
  /** Commits what is queued, if the storage works, then closes it. */
  close(): Promise<void>
}

/** Who asked for a change. A command gives its name as `request`. */
export type Origin = {
  /** The name of the token. */
  readonly token: string | null
  readonly address: string | null
  readonly request: string | null
}

export const ACTIONS = ['create', 'replace', 'patch', 'delete'] as const
export type Action = (typeof ACTIONS)[number]

/** A change that took effect. `before` of a create and `after` of a delete are null. */
export type JournalEntry = Origin & {
  /** Its place in the journal; see {@link Journal}. */
  readonly cursor: string
  /** RFC 3339, in UTC. */
  readonly at: string
  readonly action: Action
  readonly id: Int64
  readonly before: Plant | null
  readonly after: Plant | null
}

/** Which part of a journal is read. */
export type ReadOptions = { readonly after?: string | undefined; readonly limit: number }

export type JournalPage = { readonly entries: readonly JournalEntry[]; readonly next: string }
export type HistoryPage = { readonly entries: readonly JournalEntry[]; readonly next?: string }

/** How long changes are kept, in milliseconds; `off`: no journal is kept; null: as the store has it. */
export type KeepChanges = number | 'off' | null

/** The state of a journal, for metrics. */
export type JournalStats = {
  readonly entries: number
  /** When the oldest change took effect, in milliseconds since 1970; null: the journal is empty. */
  readonly oldestAt: number | null
  readonly bytes: number
}

/** The cursor that stands for the end of the journal. */
export const NOW = 'now'

/**
 * The journal of a store: the changes that took effect, in the order of their commits. Users know it as the change log. A
 * change is in it from the moment it is durable, exactly once; no new entry appears before one that was read.
 *
 * A cursor names a journal and a place in it. 40002: it is malformed. 41001: it is of another journal, or its place was
 * removed. 40403: another process has ended the journal.
 */
export interface Journal {
  /**
   * The entries after a cursor, the oldest first: at most `limit`, and fewer if they are long. Without `after`: from the
   * oldest that is kept; {@link NOW}: none. `next` is the cursor of the last one; of where it began, if there is none.
   */
  read(options: ReadOptions): Promise<JournalPage>
  /** The entries of one plant, the newest first: those before the cursor `after`, if given. No `next`: no more follow. */
  history(id: Int64, options: ReadOptions): Promise<HistoryPage>
  /**
   * Calls `listener` when there may be new entries: at once for those of this process, within half a second for others.
   * Returns a function that ends it.
   */
  watch(listener: () => void): () => void
  stats(): Promise<JournalStats>
}
