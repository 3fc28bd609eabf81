// What the address says: the search (`q`) and the plant that is open (`plant`), so that back, reload and a link work.

import { parseQuery, type Query } from './query.ts'

// Marks an entry of the tab's history behind one that shows the same plants without a panel.
const OPENED = 'opened'

const read = (key: string): string => new URL(location.href).searchParams.get(key) ?? ''

/** The address with another value; '' takes the key out. */
function addressWith(key: string, value: string): URL {
  const address = new URL(location.href)
  if (value === '') address.searchParams.delete(key)
  else address.searchParams.set(key, value)
  return address
}

/** The search; an empty one if it cannot be read. */
export function readSearch(): Query {
  const found = parseQuery(read('q'))
  return 'problem' in found ? {} : found
}

export function putSearch(words: string): void {
  const address = addressWith('q', words)
  if (address.href !== location.href) history.pushState(null, '', address)
}

/** The id of the plant that is open. */
export function readOpenPlant(): bigint | null {
  const found = parseQuery(read('plant'))
  return 'problem' in found ? null : (found.id ?? null)
}

/** Going back closes the plant; of several that are opened one after another it closes the last. */
export function putOpenPlant(id: bigint | null): void {
  const before = readOpenPlant()
  if (id === before) return
  const address = addressWith('plant', id === null ? '' : String(id))
  const isNew = before === null && history.state !== OPENED
  if (isNew) history.pushState(OPENED, '', address)
  else history.replaceState(history.state, '', address)
}
