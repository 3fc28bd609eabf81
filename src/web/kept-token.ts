// A token that a tab keeps at its user's request, for both pages, until the tab is closed or the token is forgotten.

// Contains the path, as a proxy may serve several plantstores from one origin.
const keyOf = (base: URL): string => `plantstore-token ${base.pathname}`

/** The token that this tab keeps for the service at a URL; empty if none. */
export function keptToken(base: URL): string {
  try {
    return sessionStorage.getItem(keyOf(base)) ?? ''
  } catch {
    // The browser has storage turned off.
    return ''
  }
}

/** Keeps a token in this tab, or forgets the one that is kept if it is empty. */
export function keepToken(base: URL, token: string): void {
  try {
    if (token === '') sessionStorage.removeItem(keyOf(base))
    else sessionStorage.setItem(keyOf(base), token)
  } catch {
    // The browser has storage turned off: the token stays in memory.
  }
}
