// Whether an XML document is whole (https://www.w3.org/TR/xml/#sec-well-formed): SheetJS reads one that is cut off, too.

const [MARK, QUOTE, APOSTROPHE, SLASH] = [0x21, 0x22, 0x27, 0x2f]
const [OPENING, CLOSING, QUESTION] = [0x3c, 0x3e, 0x3f]

/** What is no element, by its beginning and its end. */
const NO_ELEMENTS = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
  ['<!', '>'],
] as const

/** The place of the `>` that ends a tag, which may have others in its attributes; -1: it is cut off. */
function endOfTag(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === CLOSING) return at
    if (code === OPENING) return -1
    if (code !== QUOTE && code !== APOSTROPHE) continue
    at = text.indexOf(code === QUOTE ? '"' : "'", at + 1)
    if (at < 0) return -1
  }
  return -1
}

/** The place of the name's end. */
function endOfName(text: string, start: number): number {
  let at = start
  while (text.charCodeAt(at) > 0x20 && !isEnd(text.charCodeAt(at))) at++
  return at
}

const isEnd = (code: number): boolean => code === SLASH || code === CLOSING

/** True if a document has an element, and each of its elements is closed in its place. */
export function isWhole(text: string): boolean {
  const open: string[] = []
  let hasElement = false
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const isElement = text.charCodeAt(at + 1) !== MARK && text.charCodeAt(at + 1) !== QUESTION
    const other = isElement ? undefined : NO_ELEMENTS.find(([it]) => text.startsWith(it, at))
    const end = other ? text.indexOf(other[1], at + other[0].length) : endOfTag(text, at)
    if (end < 0) return false
    if (!other) {
      hasElement = true
      const isClosing = text.charCodeAt(at + 1) === SLASH
      const from = at + (isClosing ? 2 : 1)
      const name = text.slice(from, endOfName(text, from))
      if (isClosing && open.pop() !== name) return false
      if (!isClosing && text.charCodeAt(end - 1) !== SLASH) open.push(name)
    }
    at = end
  }
  return hasElement && open.length === 0
}
