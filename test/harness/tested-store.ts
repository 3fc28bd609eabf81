import type { Plant } from '../../src/plant/plant'
import type { Store } from '../../src/store'

/** An empty store of one engine. Disposing of it closes the store and removes what it kept. */
export type TestedStore = AsyncDisposable & {
  readonly store: Store
  /** Closes the store and opens the same data again: as after a restart. */
  reopen(): Promise<Store>
}

/** Plants with ids one after the other. */
export const range = (from: number, count: number): Plant[] =>
  Array.from({ length: count }, (_, index) => ({ id: BigInt(from + index), name: `n${index}` }))

/** Every plant of a store, page by page. */
export async function allPlants(store: Store): Promise<Plant[]> {
  const found: Plant[] = []
  let after: bigint | null = null
  do {
    const page = await store.listPlants({ after, limit: 1000 })
    found.push(...page.plants)
    after = page.next
  } while (after !== null)
  return found
}
