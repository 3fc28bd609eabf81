// What a check of a store found, whatever the engine.

export type Findings = {
  readonly schemaVersion: number
  readonly plants: number
  readonly tokens: number
  /** What is wrong, one line each; none where all is well. */
  readonly problems: readonly string[]
}
