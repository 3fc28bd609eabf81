// The commands of a browser, for any protocol.

/** Keys that are pressed together; one of a single character types it. */
export type Chord = readonly (keyof typeof CODES | (string & {}))[]

/** One page of a browser. Disposing of it ends the browser. */
export type Driver = AsyncDisposable & {
  /** As the browser gives it. */
  readonly version: string
  open(url: string): Promise<void>
  /** Evaluates an expression in the page; resolves to its value by way of JSON. */
  evaluate(expression: string): Promise<unknown>
  /** Moves the mouse there, in CSS pixels of the window. */
  move(x: number, y: number): Promise<void>
  /** Presses and releases the mouse where it is, with Shift if that is wanted. */
  press(hasShift?: boolean): Promise<void>
  /** Presses and releases it twice, as fast as people do. */
  pressTwice(): Promise<void>
  /** Presses the mouse where it is, moves it there, and releases it. */
  drag(x: number, y: number): Promise<void>
  /** Presses chords, one after the other. */
  keys(chords: readonly Chord[]): Promise<void>
  /** Chooses a file in the field that an expression finds. */
  chooseFile(expression: string, path: string): Promise<void>
}

/** The keys without a character, as WebDriver writes them. */
export const CODES = {
  Tab: '\ue004',
  Enter: '\ue007',
  Escape: '\ue00c',
  Control: '\ue009',
  Shift: '\ue008',
  End: '\ue010',
  Home: '\ue011',
  ArrowLeft: '\ue012',
  ArrowUp: '\ue013',
  ArrowRight: '\ue014',
  ArrowDown: '\ue015',
  Delete: '\ue017',
  F2: '\ue032',
} as const

const code = (key: string): string => CODES[key as keyof typeof CODES] ?? key

// WebDriver and WebDriver BiDi take the same actions.
const pointer = (actions: readonly object[]) => [
  { type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions },
]

const PRESS = [
  { type: 'pointerDown', button: 0 },
  { type: 'pointerUp', button: 0 },
]

const keyboard = (actions: readonly object[]) => [{ type: 'key', id: 'keyboard', actions }]

const PAUSE = { type: 'pause' }
const SHIFT_PRESS = [
  ...pointer([PAUSE, ...PRESS, PAUSE]),
  ...keyboard([
    { type: 'keyDown', value: CODES.Shift },
    PAUSE,
    PAUSE,
    { type: 'keyUp', value: CODES.Shift },
  ]),
]

/** Mouse and keyboard by the actions of W3C's WebDriver, which `perform` sends. */
export const inputBy = (
  perform: (actions: readonly object[]) => Promise<void>,
): Pick<Driver, 'move' | 'press' | 'pressTwice' | 'drag' | 'keys'> => ({
  move: (x, y) =>
    perform(pointer([{ type: 'pointerMove', x, y, origin: 'viewport', duration: 0 }])),
  press: (hasShift) => perform(hasShift ? SHIFT_PRESS : pointer(PRESS)),
  pressTwice: () => perform(pointer([...PRESS, ...PRESS])),
  drag: (x, y) =>
    perform(
      pointer([
        { type: 'pointerDown', button: 0 },
        { type: 'pointerMove', x, y, origin: 'viewport', duration: 100 },
        { type: 'pointerUp', button: 0 },
      ]),
    ),
  keys: (chords) =>
    perform(
      keyboard(
        chords.flatMap((chord) => [
          ...chord.map((key) => ({ type: 'keyDown', value: code(key) })),
          ...chord.toReversed().map((key) => ({ type: 'keyUp', value: code(key) })),
        ]),
      ),
    ),
})
