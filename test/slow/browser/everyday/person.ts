// Uses a page as a person does: finds elements by name, moves the mouse and types.
import type { Driver } from './driver'
import { CELL, ROW, type Target } from './labels'

const PATIENCE_MS = 40_000
const LOOK_MS = 50

// Only the text of this function is sent to the browser.
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

// Returns the point to click, or null if it is covered.
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

export class Person {
  constructor(readonly driver: () => Driver) {}

  readonly evaluate = (expression: string) => this.driver().evaluate(expression)

  readonly open = (url: string) => this.driver().open(url)

  /** Calls `look` until it finds something. */
  async until<T>(what: string, look: () => Promise<T | null | false>): Promise<T> {
    const end = performance.now() + PATIENCE_MS
    while (performance.now() < end) {
      const found = await look()
      if (found !== null && found !== false) return found
      await Bun.sleep(LOOK_MS)
    }
    const text = await this.evaluate('document.body.innerText')
    throw new Error(`${this.driver().version}: no ${what}; the page has:\n${text}`)
  }

  /** Waits until an expression in the page has a value. */
  untilEqual = (expression: string, value: unknown) =>
    this.until(`${value} of ${expression}`, async () =>
      Bun.deepEquals(await this.evaluate(expression), value),
    )

  sees = async (target: Target): Promise<boolean> =>
    (await this.evaluate(`${finding(target)} !== null`)) === true

  /** Waits until all of these are visible. */
  async find(...targets: readonly Target[]): Promise<void> {
    for (const target of targets) await this.until(JSON.stringify(target), () => this.sees(target))
  }

  /** Waits until none of these is visible. */
  async lose(...targets: readonly Target[]): Promise<void> {
    for (const target of targets)
      await this.until(
        `page without ${JSON.stringify(target)}`,
        async () => !(await this.sees(target)),
      )
  }

  #point(target: Target) {
    const look = () => this.evaluate(`(${place})(${finding(target)})`)
    return this.until(
      `place to click for ${JSON.stringify(target)}`,
      look as () => Promise<ReturnType<typeof place>>,
    )
  }

  async hover(target: Target): Promise<void> {
    const { x, y } = await this.#point(target)
    await this.driver().move(x, y)
  }

  async click(target: Target, hasShift = false): Promise<void> {
    await this.hover(target)
    await this.driver().press(hasShift)
  }

  async drag(from: Target, to: Target): Promise<void> {
    await this.hover(from)
    const { x, y } = await this.#point(to)
    await this.driver().drag(x, y)
  }

  async doubleClick(target: Target): Promise<void> {
    await this.hover(target)
    // A busy machine is slower between two clicks than a person.
    await this.evaluate(
      `Object.defineProperty(MouseEvent.prototype, 'timeStamp', { configurable: true, value: 0 }) && null`,
    )
    await this.driver().pressTwice()
    await this.evaluate('(delete MouseEvent.prototype.timeStamp) && null')
  }

  /** Types a text into the focused element. */
  type = (text: string): Promise<void> =>
    this.driver().keys([...text].map((character) => [character]))

  /** Presses keys one after the other, such as 'ArrowDown' or 'Control+z'. */
  async press(...chords: readonly string[]): Promise<void> {
    for (const chord of chords) await this.driver().keys([chord.split('+')])
  }

  /** Types a text and presses Enter. */
  async enter(text: string): Promise<void> {
    await this.type(text)
    await this.press('Enter')
  }

  /** Replaces the text of a field. */
  async fill(target: Target, text: string): Promise<void> {
    await this.click(target)
    await this.press('Control+a')
    await this.type(text)
  }

  /** Moves the focus to a control. */
  async focus(target: Target): Promise<void> {
    await this.find(target)
    await this.evaluate(`${finding(target)}.focus() ?? null`)
  }

  /** Returns the text of a field. */
  textOf = (target: Target) => this.evaluate(`${finding(target)}?.value ?? null`)

  /** Waits until a field has a text. */
  untilText = (target: Target, text: string) =>
    this.untilEqual(`${finding(target)}?.value ?? null`, text)

  /** Waits until a matching element has the focus. */
  isIn = (selector: string) =>
    this.untilEqual(`document.activeElement.matches(${JSON.stringify(selector)})`, true)

  /** Pastes a text into the focused element. Resolves to false if the page handled the paste. */
  paste = (text: string) =>
    this.evaluate(`(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', ${JSON.stringify(text)})
      // Firefox takes the text by itself.
      const data = { clipboardData, data: ${JSON.stringify(text)}, dataType: 'text/plain' }
      const event = new ClipboardEvent('paste', { ...data, bubbles: true, cancelable: true })
      return document.activeElement.dispatchEvent(event)
    })()`)

  chooseFile = (target: Target, path: string): Promise<void> =>
    this.driver().chooseFile(finding(target), path)
}
