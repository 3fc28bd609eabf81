// The requests and answers of the service. A test compares them with /openapi.json.

import type { OPTIONAL_TEXTS } from './contract.ts'

type OptionalText = (typeof OPTIONAL_TEXTS)[number]

/** A plant as answered by the create operation. */
export type Plant = { readonly name: string } & {
  readonly [Name in OptionalText]?: string | undefined
}

/** A plant with its id. */
export type NewPlant = Plant & {
  /** Exact over the whole int64 range. */
  readonly id: bigint
}

/** The fields of a plant to change; null removes an optional text. The service refuses any other field: 40002. */
export type PlantChange = { readonly name?: string | undefined } & {
  readonly [Name in OptionalText]?: string | null | undefined
}

/** The number of plants created by a batch. */
export type Created = {
  readonly created: number
}

/** The numbers of plants that a batch created, replaced, and left as they were. */
export type PutCounts = {
  readonly created: number
  readonly replaced: number
  readonly unchanged: number
}

/** A change of one plant in a batch. */
export type PlantUpdate = PlantChange & {
  readonly id: bigint
  /** The plant is changed only if it still has these fields; null or undefined for no such text. */
  readonly was?: PlantChange | undefined
}

/** The result of a batch of patches. */
export type Patched = {
  readonly created: number
  readonly patched: number
  readonly unchanged: number
  /** Differ from their `was`, and were left alone. */
  readonly conflicts: readonly Pick<NewPlant, 'id'>[]
  /** Not stored, and not created. */
  readonly missing: readonly Pick<NewPlant, 'id'>[]
}

/** The result of a batch of deletes. */
export type Deleted = {
  readonly deleted: number
  /** Stored with other fields, and left alone. */
  readonly conflicts: readonly Pick<NewPlant, 'id'>[]
  /** Not stored. */
  readonly missing: readonly Pick<NewPlant, 'id'>[]
}

/** The selection of plants in a list. */
export type ListQuery = {
  /** Page size: 1 to 1000 plants; default: 100. */
  readonly limit?: number | undefined
  /** Only plants after this id, or after the page whose `next` this is. */
  readonly after?: bigint | string | undefined
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined
  /** false: only plants without a tag; true: only plants with any. Not beside `tag`. */
  readonly tagged?: boolean | undefined
  /** Only plants whose names contain this, or each of these. A page may be short or empty while there is a `next`. */
  readonly name?: string | readonly string[] | undefined
  /** Order of ids; default: asc. With desc, `after` selects ids below it. */
  readonly order?: 'asc' | 'desc' | undefined
}

/** A page of plants. */
export type PlantPage = {
  /** In the requested order of ids. */
  readonly plants: readonly NewPlant[]
  /** `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The selection of tags in a list. */
export type TagsQuery = {
  /** Page size: 1 to 1000 tags; default: 100. */
  readonly limit?: number | undefined
  /** Only tags after this text, such as the `next` of a page. */
  readonly after?: string | undefined
}

/** A tag, and the number of plants that have it. */
export type TagCount = {
  readonly tag: string
  readonly plants: number
}

/** A page of tags. */
export type TagPage = {
  /** In the order of code points. */
  readonly tags: readonly TagCount[]
  /** `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** A change that took effect. */
export type Change = {
  /** Position in the change log. */
  readonly cursor: string
  /** RFC 3339, in UTC. */
  readonly at: string
  readonly action: 'create' | 'replace' | 'patch' | 'delete'
  readonly id: bigint
  /** null for a created plant. */
  readonly before: Plant | null
  /** null for a deleted plant. */
  readonly after: Plant | null
  /** Name of the token used; null for a command. */
  readonly token: string | null
  readonly address: string | null
  /** Id of the request, or name of the command. */
  readonly request: string | null
}

/** The selection of changes in a list. */
export type ChangesQuery = {
  /** Page size: 1 to 1000 changes; default: 100. */
  readonly limit?: number | undefined
  /** Only changes after this cursor, or after `now`. */
  readonly after?: string | undefined
}

/** A page of changes, oldest first. */
export type ChangePage = {
  readonly changes: readonly Change[]
  /** `after` of the next page. */
  readonly next: string
}

/** A page of a plant's changes, newest first. */
export type HistoryPage = {
  readonly changes: readonly Change[]
  /** `after` of the next page; null on the last page. */
  readonly next: string | null
}

/** The rights of the request's token. */
export type OwnToken = {
  readonly name: string
  /** `read`: plants and the change log only; `write`: everything. */
  readonly scope: 'read' | 'write'
  /** RFC 3339, UTC; undefined if it never expires. */
  readonly expires?: string | undefined
  /** True if a change log is kept. */
  readonly changeLog: boolean
}

/** The health of a service that can write. `damaged`: except what needs a damaged page of its database. */
export type Health = {
  readonly status: 'ok' | 'damaged' | 'behind'
}

/** The state of the service. */
export type Status = {
  readonly version: string
  /** Commit that the daemon was built from. */
  readonly commit: string
  readonly engine: 'sqlite' | 'postgresql'
  /** Name of the database file, or of the database on the server. */
  readonly database: string
  /** null if the plants cannot be read. */
  readonly plants: number | null
  /** True if it was started with --read-only. */
  readonly readOnly: boolean
  readonly writable: boolean
  /** The reason that changes cannot be stored; null if they can. */
  readonly problem: { readonly name: string; readonly message: string } | null
  /** Only of a read-only service. */
  readonly replica: {
    /** 0 if it has every change, or null if unknown, as of a file. */
    readonly lagSeconds: number | null
    /** Bytes received and not applied, or null if unknown. */
    readonly lagBytes: number | null
    /** The address to send changes to, or null if unknown. */
    readonly primary: string | null
  } | null
  /** True if a page of the database is known to be damaged. */
  readonly damaged: boolean
  readonly uptimeSeconds: number
  /** The last scheduled backup; null if there is none. */
  readonly lastBackup: { readonly at: string; readonly ageSeconds: number } | null
  /** null if none is kept, or it cannot be read. */
  readonly changeLog: {
    readonly entries: number
    readonly bytes: number
    readonly oldest: string | null
    readonly keepSeconds: number
  } | null
  /** Clients that follow the change log. */
  readonly followers: number
}
