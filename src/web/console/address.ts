// The URL: the search (`q`), the order (`sort`) and the open plant (`plant`), so that back, reload and links work.

import { parseQuery, textOf } from './query.ts'
import { parseSort, sortText } from './sort.ts'
import type { View } from './view.ts'

// Marks an entry of the tab's history behind one that shows the same plants without a panel.
const PANEL_MARK = 'opened'

const read = (key: string): string => new URL(location.href).searchParams.get(key) ?? ''

/** The address with other values; '' takes the key out. */
function addressWith(values: Readonly<Record<string, string>>): URL {
  const address = new URL(location.href)
  for (const [key, value] of Object.entries(values)) {
    if (value === '') address.searchParams.delete(key)
    else address.searchParams.set(key, value)
  }
  return address
}

/** The view in the URL; all plants if its search is invalid. */
export function readView(): View {
  const found = parseQuery(read('q'))
  return { query: 'problem' in found ? {} : found, sort: parseSort(read('sort')) }
}

/** Puts a view into the URL. `isCorrected`: the URL requested it, or an invalid one that it replaces. */
export function putView({ query, sort }: View, isCorrected: boolean): void {
  const address = addressWith({ q: textOf(query), sort: sortText(sort) })
  if (address.href === location.href) return
  if (isCorrected) history.replaceState(history.state, '', address)
  else history.pushState(null, '', address)
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
  const address = addressWith({ plant: id === null ? '' : String(id) })
  const isNew = before === null && history.state !== PANEL_MARK
  if (isNew) history.pushState(PANEL_MARK, '', address)
  else history.replaceState(history.state, '', address)
}

/** A token in the fragment, such as the link that `serve` prints has; removes it from the address. */
export function takeToken(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
  if (token !== '') history.replaceState(history.state, '', location.pathname + location.search)
  return token
}
