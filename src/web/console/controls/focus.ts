// Keeps the keyboard in the page: when the control with the focus removes itself, a neighbour gets the focus.

// The places that take the focus over, the innermost first.
const HOMES = 'li, form, search, section, dialog, [role="grid"]'
const CONTROLS =
  'input:not([tabindex="-1"]), textarea, select, button, a[href], summary, [tabindex="-1"]:is(h1, h2)'

const isThere = (element: Element): boolean => element.isConnected && element.checkVisibility()

function pathOf(target: EventTarget | null): Element[] {
  const path: Element[] = []
  for (let at = target instanceof Element ? target : null; at; at = at.parentElement) path.push(at)
  return path
}

/** The first control of the nearest place that is left, else the table. */
function neighbourOf(path: readonly Element[]): HTMLElement | undefined {
  const table = document.querySelector('[role="grid"]')
  for (const home of [...path, table]) {
    if (!home?.matches(HOMES) || !isThere(home)) continue
    const controls = home === table ? [home] : [...home.querySelectorAll(CONTROLS)]
    const control = controls.find(isThere)
    if (control instanceof HTMLElement) return control
  }
  return undefined
}

/** Watches the page. Call the result to stop. */
export function keepFocus(): () => void {
  let path: Element[] = []
  const remember = ({ target }: Event): void => {
    path = pathOf(target)
  }
  const restore = (): void => {
    const [last] = path
    if (!last || isThere(last) || document.activeElement !== document.body) return
    neighbourOf(path)?.focus()
  }
  const changes = new MutationObserver(restore)
  changes.observe(document.body, { childList: true, subtree: true })
  document.addEventListener('focusin', remember)
  // Not every browser gives the focus to a button that is clicked.
  document.addEventListener('click', remember, true)
  return () => {
    changes.disconnect()
    document.removeEventListener('focusin', remember)
    document.removeEventListener('click', remember, true)
  }
}
