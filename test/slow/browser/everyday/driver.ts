// The commands of a browser, independent of the protocol.

/** Keys that are pressed together. A single character types it. */
export type Chord = readonly (keyof typeof CODES | (string & {}))[]

/** One page of a browser. Disposing it ends the browser. */
export type Driver = AsyncDisposable & {
  /** The version that the browser reports. */
  readonly version: string
  open(url: string): Promise<void>
  /** Evaluates an expression in the page, and resolves to its value, which must be JSON. */
  evaluate(expression: string): Promise<unknown>
  /** Moves the mouse to a point, in CSS pixels of the window. */
  move(x: number, y: number): Promise<void>
  /** Clicks at the position of the mouse, with Shift if `hasShift` is set. */
  press(hasShift?: boolean): Promise<void>
  /** Double-clicks at the position of the mouse. */
  pressTwice(): Promise<void>
  /** Drags from the position of the mouse to a point. */
  drag(x: number, y: number): Promise<void>
  /** Presses chords, one after the other. */
  keys(chords: readonly Chord[]): Promise<void>
  /** Chooses a file in the field that an expression finds. */
  chooseFile(expression: string, path: string): Promise<void>
}

/** WebDriver's codes for keys without a character. */
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

// WebDriver and WebDriver BiDi accept the same actions.
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

/** Returns mouse and keyboard commands as WebDriver actions, which `perform` sends. */
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
