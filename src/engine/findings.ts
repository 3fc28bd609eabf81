// The findings of a check of a store, for every engine.

export type Findings = {
  readonly schemaVersion: number
  readonly plants: number
  readonly tokens: number
  /** What is wrong, one line each; empty if all is well. */
  readonly problems: readonly string[]
}
