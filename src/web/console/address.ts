// The URL: the search (`q`), the order (`sort`) and the open plant (`plant`), so that back, reload and links work.

import { parseQuery, textOf } from './query.ts'
import { parseSort, sortText } from './sort.ts'
import type { View } from './view.ts'

// Marks a history entry whose previous one shows the same plants without a panel.
const PANEL_MARK = 'opened'

const readParameter = (key: string): string => new URL(location.href).searchParams.get(key) ?? ''

/** The URL with other values; '' removes a key. */
function urlWith(values: Readonly<Record<string, string>>): URL {
  const address = new URL(location.href)
  for (const [key, value] of Object.entries(values)) {
    if (value === '') address.searchParams.delete(key)
    else address.searchParams.set(key, value)
  }
  return address
}

/** The view in the URL; all plants if its search is invalid. */
export function readUrlView(): View {
  const query = parseQuery(readParameter('q'))
  return { query: 'problem' in query ? {} : query, sort: parseSort(readParameter('sort')) }
}

/** Shows a view in the URL. `isCorrected`: the URL requested this view, or an invalid one, and is replaced. */
export function setUrlView({ query, sort }: View, isCorrected: boolean): void {
  const address = urlWith({ q: textOf(query), sort: sortText(sort) })
  if (address.href === location.href) return
  if (isCorrected) history.replaceState(history.state, '', address)
  else history.pushState(null, '', address)
}

/** The id of the plant that is open. */
export function readUrlPlant(): bigint | null {
  const query = parseQuery(readParameter('plant'))
  return 'problem' in query ? null : (query.id ?? null)
}

/** Shows the open plant in the URL, so that going back closes it, or the last of several opened in a row. */
export function setUrlPlant(id: bigint | null): void {
  const before = readUrlPlant()
  if (id === before) return
  const address = urlWith({ plant: id === null ? '' : String(id) })
  const isNew = before === null && history.state !== PANEL_MARK
  if (isNew) history.pushState(PANEL_MARK, '', address)
  else history.replaceState(history.state, '', address)
}

/** Removes the token from the fragment, as in the link that `serve` prints, and returns it. */
export function extractToken(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
  if (token !== '') history.replaceState(history.state, '', location.pathname + location.search)
  return token
}
