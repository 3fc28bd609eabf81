// What the service takes and answers. A test compares it with /openapi.json.

/** The texts that a plant may have besides its name: `tag` is its type. */
export const OPTIONAL_TEXTS = ['tag'] as const
type OptionalText = (typeof OPTIONAL_TEXTS)[number]

/** A plant as the create operation answers it. */
export type Plant = { readonly name: string } & {
  readonly [Name in OptionalText]?: string | undefined
}

/** A plant with its id. */
export type NewPlant = Plant & {
  /** Exact over the whole int64 range. */
  readonly id: bigint
}

/** The fields of a plant to change; null removes an optional text. */
export type PlantChange = { readonly name?: string | undefined } & {
  readonly [Name in OptionalText]?: string | null | undefined
}

/** How many plants a batch created. */
export type Created = {
  readonly created: number
}

/** How many plants a batch created, replaced, and left as they were. */
export type PutCounts = {
  readonly created: number
  readonly replaced: number
  readonly unchanged: number
}

/** Which plants to list. */
export type ListQuery = {
  /** The most plants on a page: 1 to 1000; default: 100. */
  readonly limit?: number | undefined
  /** Only plants after this id, or after the page whose `next` this is. */
  readonly after?: bigint | string | undefined
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined
  /** Only plants whose names contain this. A page may be short or empty while there is a `next`. */
  readonly name?: string | undefined
  /** The order of ids; default: asc. With desc, `after` means ids below it. */
  readonly order?: 'asc' | 'desc' | undefined
}

/** A page of plants. */
export type PlantPage = {
  /** In the order of ids that was asked for. */
  readonly plants: readonly NewPlant[]
  /** What to give as `after` for the next page; null on the last one. */
  readonly next: string | null
}

/** A change that took effect. */
export type Change = {
  /** Its place in the log. */
  readonly cursor: string
  /** RFC 3339, in UTC. */
  readonly at: string
  readonly action: 'create' | 'replace' | 'patch' | 'delete'
  readonly id: bigint
  /** null: there was none. */
  readonly before: Plant | null
  /** null: there is none any more. */
  readonly after: Plant | null
  /** The name of the token that it was made with; null for a command. */
  readonly token: string | null
  readonly address: string | null
  /** The id of the request; the name of a command. */
  readonly request: string | null
}

/** Which changes to list. */
export type ChangesQuery = {
  /** The most changes on a page: 1 to 1000; default: 100. */
  readonly limit?: number | undefined
  /** Only changes after this place: a cursor, or `now`. */
  readonly after?: string | undefined
}

/** The oldest changes first. */
export type ChangePage = {
  readonly changes: readonly Change[]
  /** What to give as `after` to go on. */
  readonly next: string
}

/** The newest changes of a plant first. */
export type HistoryPage = {
  readonly changes: readonly Change[]
  /** What to give as `after` for the next page; null on the last one. */
  readonly next: string | null
}

/** What the token of a request allows. */
export type OwnToken = {
  readonly name: string
  /** `read`: only reading plants and the change log; `write`: everything. */
  readonly scope: 'read' | 'write'
  /** RFC 3339, in UTC; undefined: it never expires. */
  readonly expires?: string | undefined
  /** True if a change log is kept. */
  readonly changeLog: boolean
}

/** The service can write. */
export type Health = {
  readonly status: 'ok'
}

export const KNOWN_ERRORS = [
  40001, 40002, 40101, 40102, 40301, 40402, 40403, 40901, 40902, 41001, 41201, 41301, 41501, 42901,
  50001, 50301, 50302, 50701,
] as const

/** Every error number that the service documents. */
export type KnownError = (typeof KNOWN_ERRORS)[number]
