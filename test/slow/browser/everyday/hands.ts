// Uses a page as a person does: looks for things by their names, moves the mouse, types.
import { TOKEN } from '../../../harness/daemon'
import type { Driver } from './driver'
import { CELL, ROW, type Target } from './labels'

const PATIENCE_MS = 40_000
const LOOK_MS = 50

// Its text alone is sent to the browser.
function find({ kind, name, row }: Target, rowKind: string, cellKind: string): Element | null {
  const textOf = (element: Element): string => {
    const copy = element.cloneNode(true) as Element
    for (const hidden of copy.querySelectorAll('[aria-hidden=true]')) hidden.remove()
    return (copy.textContent ?? '').replace(/\s+/g, ' ').trim()
  }
  const nameOf = (element: Element): string => {
    const labels = [...((element as HTMLInputElement).labels ?? [])]
    const text = labels.length > 0 ? labels.map(textOf).join(' ') : textOf(element)
    return element.getAttribute('aria-label') ?? text
  }
  const isNamed = (element: Element): boolean =>
    typeof name === 'string'
      ? nameOf(element) === name
      : new RegExp(name.pattern).test(nameOf(element))
  const isInRow = (element: Element): boolean =>
    [...(element.closest(rowKind)?.querySelectorAll(cellKind) ?? [])].some(
      (cell) => textOf(cell) === row,
    )
  const all = [...document.querySelectorAll(kind)].filter((element) => element.checkVisibility())
  return all.find((element) => isNamed(element) && (row === undefined || isInRow(element))) ?? null
}

// The point to click; null if it is covered.
function place(element: Element | null): { x: number; y: number } | null {
  if (!element) return null
  element.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  const { left, right, top, bottom } = element.getBoundingClientRect()
  const [x, y] = [Math.round((left + right) / 2), Math.round((top + bottom) / 2)]
  const hit = document.elementFromPoint(x, y)
  return hit && element.contains(hit) ? { x, y } : null
}

const finding = (target: Target): string =>
  `(${find})(${[target, ROW, CELL].map((part) => JSON.stringify(part))})`

export function handsOn(driver: () => Driver) {
  const sees = async (target: Target): Promise<boolean> =>
    (await driver().evaluate(`${finding(target)} !== null`)) === true

  /** Looks until `look` finds something. */
  async function until<T>(what: () => string, look: () => Promise<T | null | false>): Promise<T> {
    const end = performance.now() + PATIENCE_MS
    while (performance.now() < end) {
      const found = await look()
      if (found !== null && found !== false) return found
      await Bun.sleep(LOOK_MS)
    }
    const text = await driver().evaluate('document.body.innerText')
    throw new Error(`${driver().version}: ${what()}; the page has:\n${text}`)
  }

  const point = (target: Target) =>
    until(
      () => `nothing to click for ${JSON.stringify(target)}`,
      () =>
        driver().evaluate(`(${place})(${finding(target)})`) as Promise<{
          x: number
          y: number
        } | null>,
    )

  async function hover(target: Target): Promise<void> {
    const { x, y } = await point(target)
    await driver().move(x, y)
  }

  async function click(target: Target): Promise<void> {
    await hover(target)
    await driver().press()
  }

  async function shiftClick(target: Target): Promise<void> {
    await hover(target)
    await driver().press(true)
  }

  async function drag(from: Target, to: Target): Promise<void> {
    await hover(from)
    const { x, y } = await point(to)
    await driver().drag(x, y)
  }

  async function doubleClick(target: Target): Promise<void> {
    await hover(target)
    // A busy machine takes longer between two presses than people do.
    await driver().evaluate(
      `Object.defineProperty(MouseEvent.prototype, 'timeStamp', { configurable: true, value: 0 }) && null`,
    )
    await driver().pressTwice()
    await driver().evaluate('(delete MouseEvent.prototype.timeStamp) && null')
  }

  /** Types a text where the keyboard is. */
  const type = (text: string): Promise<void> =>
    driver().keys([...text].map((character) => [character]))

  return {
    sees,
    evaluate: (expression: string) => driver().evaluate(expression),
    open: (url: string) => driver().open(url),
    /** Opens the console of a daemon by a link with a token. */
    connect: (url: string, token: string = TOKEN) => driver().open(`${url}/#token=${token}`),
    until: (what: string, look: () => Promise<boolean>) => until(() => what, look),
    hover,
    click,
    shiftClick,
    drag,
    doubleClick,
    /** Waits until all of these are seen. */
    async find(...targets: readonly Target[]): Promise<void> {
      for (const target of targets) {
        await until(
          () => `does not see ${JSON.stringify(target)}`,
          () => sees(target),
        )
      }
    },
    /** Waits until none of these is seen. */
    async lose(...targets: readonly Target[]): Promise<void> {
      for (const target of targets) {
        await until(
          () => `still sees ${JSON.stringify(target)}`,
          async () => !(await sees(target)),
        )
      }
    },
    /** Types a text in a field, in place of what is there. */
    async fill(target: Target, text: string): Promise<void> {
      await click(target)
      await driver().keys([['Control', 'a']])
      await type(text)
    },
    /** Moves the keyboard to a control, as Tab does. */
    async focus(target: Target): Promise<void> {
      await until(
        () => `does not see ${JSON.stringify(target)}`,
        () => sees(target),
      )
      await driver().evaluate(`${finding(target)}.focus() ?? null`)
    },
    /** The text of a field. */
    textOf: (target: Target): Promise<unknown> =>
      driver().evaluate(`${finding(target)}?.value ?? null`),
    /** Waits until the keyboard is in an element; fails with the one that it is in. */
    isIn: (selector: string) =>
      until(
        () => `the keyboard is not in ${selector}`,
        async () =>
          (await driver().evaluate(
            `document.activeElement.matches(${JSON.stringify(selector)})`,
          )) === true,
      ),
    /** Presses keys one after the other, such as 'ArrowDown' or 'Control+z'. */
    async press(...chords: readonly string[]): Promise<void> {
      for (const chord of chords) await driver().keys([chord.split('+')])
    },
    type,
    /** Types a text and presses Enter. */
    async enter(text: string): Promise<void> {
      await type(text)
      await driver().keys([['Enter']])
    },
    /** Pastes a text where the keyboard is; false if the page has taken it. */
    paste: (text: string): Promise<unknown> =>
      driver().evaluate(`(() => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text/plain', ${JSON.stringify(text)})
        // Firefox takes the text by itself.
        const data = { clipboardData, data: ${JSON.stringify(text)}, dataType: 'text/plain' }
        const event = new ClipboardEvent('paste', { ...data, bubbles: true, cancelable: true })
        return document.activeElement.dispatchEvent(event)
      })()`),
    /** Waits until cells can be edited in place. */
    async findEditor(): Promise<void> {
      const isLoaded = `document.querySelector('.rows .id[aria-readonly]') !== null`
      await until(
        () => 'no editor of cells',
        async () => (await driver().evaluate(isLoaded)) === true,
      )
    },
    chooseFile: (target: Target, path: string): Promise<void> =>
      driver().chooseFile(finding(target), path),
  }
}
