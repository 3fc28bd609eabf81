// Made by `bun run client:types` of what the service says of itself at /openapi.json: do not edit.

/** How many plants a batch created. */
export type Created = {
  /** Plants created. */
  readonly created: number
}

/** The id of the last plant of a page, in digits; of a page by name, its name too. The next page starts behind it. */
export type Cursor = string

/** A plant with its id. */
export type NewPlant = {
  /** Identification number of the plant, an exact int64. */
  readonly id: bigint
  /** Name of the plant. */
  readonly name: string
  /** Tag that specifies the type of the plant. */
  readonly tag?: string
}

/** A plant as it is answered to its create. */
export type Plant = {
  /** Name of the plant. */
  readonly name: string
  /** Tag that specifies the type of the plant. */
  readonly tag?: string
}

/** Plants to create together. */
export type PlantBatch = {
  /** The plants to create, each with an id of its own. */
  readonly plants: readonly NewPlant[]
}

/** A page of plants. */
export type PlantPage = {
  /** Plants in ascending order of their ids, or of names. */
  readonly plants: readonly NewPlant[]
  /** What to give as `after` for the next page; null on the last one. */
  readonly next: Cursor | null
}

/** The fields of a plant that are to change. The id, if sent, must be that of the path. */
export type PlantPatch = {
  /** Identification number of the plant, an exact int64. */
  readonly id?: bigint
  /** Name of the plant. */
  readonly name?: string
  /** Tag that specifies the type of the plant; null removes it. */
  readonly tag?: string | null
}

/** All fields of a plant. The id may be left out; it must be that of the path. */
export type Replacement = {
  /** Identification number of the plant, an exact int64. */
  readonly id?: bigint
  /** Name of the plant. */
  readonly name: string
  /** Tag that specifies the type of the plant. */
  readonly tag?: string
}

/** The parameters of `listPlants`. */
export type ListPlantsQuery = {
  /** Plants of a page at most; 100 if not given. */
  readonly limit?: number
  /** The id of the last plant of a page, in digits; of a page by name, its name too. The next page starts behind it. */
  readonly after?: Cursor
  /** Only plants with exactly this tag. */
  readonly tag?: string
  /** Only plants whose name begins with this, in the order of their names, then ids. Not with `tag`. Needs --name-index. */
  readonly name?: string
}

/** Every operation on plants. */
export type Operation =
  | 'createPlant'
  | 'createPlants'
  | 'deletePlant'
  | 'listPlants'
  | 'patchPlant'
  | 'readPlant'
  | 'replacePlant'

/** Every error number that the service documents. */
export type KnownError =
  | 40001
  | 40002
  | 40101
  | 40102
  | 40301
  | 40402
  | 40901
  | 40902
  | 41201
  | 41301
  | 41501
  | 42901
  | 50001
  | 50301
  | 50302
  | 50701
