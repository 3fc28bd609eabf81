import type { NewPlant } from '../../src/plant'
import type { Store } from '../../src/store'

/** An empty store of one engine. Disposing of it closes the store and removes what it kept. */
export type TestedStore = AsyncDisposable & {
  readonly store: Store
  /** Closes the store and opens the same data again: as after a restart. */
  reopen(): Promise<Store>
}

/** Plants with ids one after the other. */
export const range = (from: number, count: number): NewPlant[] =>
  Array.from({ length: count }, (_, index) => ({ id: BigInt(from + index), name: `n${index}` }))

/** Every plant of a store, page by page. */
export async function allPlants(store: Store): Promise<NewPlant[]> {
  const found: NewPlant[] = []
  for (;;) {
    const after = found.at(-1)?.id ?? null
    const { plants, hasMore } = await store.listPlants({ after, limit: 1000, tag: null })
    found.push(...plants)
    // A page that does not go on would lead here for ever.
    if (!hasMore || plants.length === 0) return found
  }
}
