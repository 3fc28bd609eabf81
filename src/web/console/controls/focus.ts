// Keeps the focus in the page: when the focused control disappears, a neighbour gets the focus.

// The areas in which a neighbour gets the focus; the innermost counts.
const FOCUS_AREAS = 'li, form, search, section, dialog, [role="grid"]'
const CONTROLS =
  'input:not([tabindex="-1"]), textarea, select, button, a[href], summary, [tabindex="-1"]:is(h1, h2)'

const TEXT_FIELDS = 'input:not([type="checkbox"]), textarea'

/** The text field with the keyboard, unless it is in an area. */
export function fieldInUse(area: Element | null): HTMLElement | null {
  const { activeElement } = document
  const isField = activeElement instanceof HTMLElement && activeElement.matches(TEXT_FIELDS)
  return isField && !area?.contains(activeElement) ? activeElement : null
}

/** The first field of an area whose text was refused. */
export const invalidField = (area: Element | null): HTMLElement | null =>
  area?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? null

/** Places the caret at the end of a text field. */
export function placeCaret(element: Element | null | undefined): void {
  const isField = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
  // Other inputs have no caret.
  if (isField && element.selectionStart !== null) element.setSelectionRange(-1, -1)
}

const isVisible = (element: Element): boolean => element.isConnected && element.checkVisibility()

function pathOf(target: EventTarget | null): Element[] {
  const path: Element[] = []
  for (let at = target instanceof Element ? target : null; at; at = at.parentElement) path.push(at)
  return path
}

/** The first control of the nearest area that remains, else the table. */
function neighbourOf(path: readonly Element[]): HTMLElement | undefined {
  const table = document.querySelector('[role="grid"]')
  for (const home of [...path, table]) {
    if (!home?.matches(FOCUS_AREAS) || !isVisible(home)) continue
    const controls = home === table ? [home] : [...home.querySelectorAll(CONTROLS)]
    const control = controls.find(isVisible)
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
    if (!last || isVisible(last) || document.activeElement !== document.body) return
    neighbourOf(path)?.focus()
  }
  const changes = new MutationObserver(restore)
  changes.observe(document.body, { childList: true, subtree: true })
  document.addEventListener('focusin', remember)
  // Not every browser focuses a clicked button.
  document.addEventListener('click', remember, true)
  return () => {
    changes.disconnect()
    document.removeEventListener('focusin', remember)
    document.removeEventListener('click', remember, true)
  }
}
