// Cuts JSON, which arrives in parts, into values, and finds those that are rows by their paths. It parses keys only.

/** The keys that lead to a value, through arrays too. */
type Path = readonly string[]

/** The receivers of what the scanner finds. */
type Receiver = {
  /** True if each value of this array, or this object as a whole, is a row. The path of the document is empty. */
  readonly isRows: (path: Path, isArray: boolean) => boolean
  /** True if documents of the same kind may follow the first: arrays an array, objects an object. */
  readonly isSeries?: boolean
  /** A row: its text, the line where it begins, and its key if it is a member of an object. */
  readonly onRow: (line: number, text: string, key: string | null) => void
  /** A member of an object outside of rows; `first`: the first character of its value. */
  readonly onMember?: (path: Path, key: string, first: string) => void
  /** An outermost value has ended in this line. */
  readonly onEnd?: (line: number) => void
}

/** The reason why reading stops, and its line. */
type Fault = { readonly line: number; readonly stop: string }

type Frame = { readonly isArray: boolean; readonly path: Path; readonly isRows: boolean }

/** A value or a key that is being read. Its text is collected, unless it is skipped (`other`). */
type Span = {
  readonly kind: 'row' | 'key' | 'other'
  readonly line: number
  pieces: string[]
  length: number
  depth: number
  isText: boolean
  isEscaped: boolean
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const OPENINGS = { array: OPEN_ARRAY, object: OPEN_OBJECT }
const NEWLINE = 10
const isSpace = (code: number) => code === 32 || code === NEWLINE || code === 13 || code === 9

/** The maximum nesting outside of rows. */
const MAX_DEPTH = 1000

const countNewlines = (text: string): number => {
  let count = 0
  for (let index = text.indexOf('\n'); index >= 0; index = text.indexOf('\n', index + 1)) count += 1
  return count
}

/** The end of a text that began before `start`; -1 if it is not in this part. */
function findTextEnd(span: Span, part: string, start: number): number {
  for (let index = span.isEscaped ? start + 1 : start; ; ) {
    const quote = part.indexOf('"', index)
    const end = quote < 0 ? part.length : quote
    let first = end
    while (first > index && part[first - 1] === '\\') first -= 1
    // A quote after an odd number of backslashes is a character.
    span.isEscaped = (end - first) % 2 === 1
    if (quote < 0) return -1
    index = quote + 1
    if (!span.isEscaped) return index
  }
}

/** The end of a value; -1 if it is not in this part. */
function findEnd(span: Span, part: string, start: number): number {
  let index = start
  while (index < part.length) {
    if (span.isText) {
      index = findTextEnd(span, part, index)
      if (index < 0) return -1
      span.isText = false
      if (span.depth === 0) return index
      continue
    }
    const code = part.charCodeAt(index)
    if (code === QUOTE) span.isText = true
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) span.depth += 1
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      if (span.depth === 0) return index
      span.depth -= 1
      if (span.depth === 0) return index + 1
    } else if (span.depth === 0 && (code === COMMA || isSpace(code))) return index
    index += 1
  }
  return -1
}

/** Reads the text of a document, or of several one after another. A row or a key has at most `limit` characters. */
export class JsonScanner {
  line = 1
  /** The number of outermost values that have ended. */
  values = 0
  #frames: Frame[] = []
  #document: 'array' | 'object' = 'object'
  #key: string | null = null
  #span: Span | null = null
  #expectation: 'value' | 'key' | 'colon' | 'next' = 'value'

  constructor(
    private readonly receiver: Receiver,
    private readonly limit: number,
  ) {}

  /** Reads the next part of the text. */
  read(part: string): Fault | null {
    let index = 0
    while (index < part.length) {
      if (this.#span) {
        const end = this.#readSpan(this.#span, part, index)
        if (end === null) return this.#tooLong(this.#span)
        index = end
        continue
      }
      const code = part.charCodeAt(index)
      if (isSpace(code)) {
        if (code === NEWLINE) this.line += 1
        index += 1
        continue
      }
      const fault = this.#handle(code, part[index] ?? '')
      if (fault) return fault
      if (!this.#span) index += 1
    }
    return null
  }

  /** Reads the end of the text. */
  end(): Fault | null {
    const span = this.#span
    const isScalar = span !== null && span.depth === 0 && !span.isText
    if (span && isScalar) this.#endSpan(span, '')
    if (this.#frames.length === 0 && (!span || isScalar)) return null
    return { line: this.line, stop: `the ${this.#document} does not end` }
  }

  /** Handles a character that begins or separates values. A comma may come before the end of an array or object. */
  #handle(code: number, character: string): Fault | null {
    const frame = this.#frames.at(-1)
    const isOpen = this.#expectation !== 'colon' && this.#key === null
    if (frame && isOpen && code === (frame.isArray ? CLOSE_ARRAY : CLOSE_OBJECT)) {
      this.#frames.pop()
      this.#endValue()
      return null
    }
    switch (this.#expectation) {
      case 'value':
        return this.#beginValue(code, character)
      case 'key':
        if (code !== QUOTE) return this.#unexpected(character)
        this.#beginSpan('key')
        return null
      case 'colon':
        if (code !== COLON) return this.#unexpected(character)
        this.#expectation = 'value'
        return null
      case 'next':
        if (code !== COMMA) return this.#unexpected(character)
        this.#expectation = frame?.isArray ? 'value' : 'key'
        return null
    }
  }

  #unexpected(character: string): Fault {
    return { line: this.line, stop: `unexpected ${JSON.stringify(character)}` }
  }

  #tooLong({ line }: Span): Fault {
    return { line, stop: `a value longer than ${this.limit} characters` }
  }

  #beginValue(code: number, character: string): Fault | null {
    const frame = this.#frames.at(-1)
    if (code === COMMA || code === COLON || code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      return this.#unexpected(character)
    }
    const isSequence = !frame && this.receiver.isRows([], false)
    const isNext = this.receiver.isSeries && code === OPENINGS[this.#document]
    if (!frame && !isSequence && !isNext && this.values > 0) return this.#unexpected(character)
    if (frame && !frame.isArray) this.receiver.onMember?.(frame.path, this.#key ?? '', character)
    const isContainer = code === OPEN_OBJECT || code === OPEN_ARRAY
    const path = isContainer ? this.#pathOf(frame) : []
    const isArray = code === OPEN_ARRAY
    const isRows = isContainer && !frame?.isRows && this.receiver.isRows(path, isArray)
    if (this.#frames.length === MAX_DEPTH) {
      return { line: this.line, stop: `nested more than ${MAX_DEPTH} levels deep` }
    }
    if (frame?.isRows || (isRows && !isArray) || isSequence) this.#beginSpan('row')
    else if (!isContainer) this.#beginSpan('other')
    else {
      if (!frame) this.#document = isArray ? 'array' : 'object'
      this.#frames.push({ isArray, path, isRows })
      this.#key = null
      this.#expectation = isArray ? 'value' : 'key'
    }
    return null
  }

  /** The path of a value within a frame. */
  #pathOf(frame: Frame | undefined): Path {
    if (!frame) return []
    return frame.isArray ? frame.path : [...frame.path, this.#key ?? '']
  }

  #endValue(): void {
    this.#expectation = this.#frames.length === 0 ? 'value' : 'next'
    this.#key = null
    if (this.#frames.length > 0) return
    this.values += 1
    this.receiver.onEnd?.(this.line)
  }

  #beginSpan(kind: Span['kind']): void {
    const { line } = this
    this.#span = { kind, line, pieces: [], length: 0, depth: 0, isText: false, isEscaped: false }
  }

  /** Continues a span. Returns its end, the part's end if it goes on, or null if it is too long. */
  #readSpan(span: Span, part: string, start: number): number | null {
    const spanEnd = findEnd(span, part, start)
    const end = spanEnd < 0 ? part.length : spanEnd
    span.length += end - start
    if (span.kind !== 'other' && span.length > this.limit) return null
    const piece = part.slice(start, end)
    if (spanEnd >= 0) this.#endSpan(span, piece)
    else if (span.kind !== 'other') span.pieces.push(piece)
    else this.line += countNewlines(piece)
    return end
  }

  #endSpan(span: Span, piece: string): void {
    this.#span = null
    const text = span.pieces.length === 0 ? piece : span.pieces.join('') + piece
    this.line += countNewlines(text)
    if (span.kind === 'key') {
      this.#key = readKey(text)
      this.#expectation = 'colon'
      return
    }
    const isMember = this.#frames.at(-1)?.isArray === false
    if (span.kind === 'row') this.receiver.onRow(span.line, text, isMember ? this.#key : null)
    this.#endValue()
  }
}

function readKey(text: string): string {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
