// Rewrites the parts of a workbook that SheetJS misreads.

const UTF8 = new TextEncoder()

/** Characters beyond 16 bits that are written as numbers, which SheetJS cuts to 16 bits. */
const LARGE_REFERENCE = /&#(?:x0*([\da-f]{5,6})|0*(\d{5,7}));/gi

function resolveReference(reference: string, hex?: string, decimal?: string): string {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code > 0xffff && code <= 0x10ffff ? String.fromCodePoint(code) : reference
}

/** A cell of Excel with a formula but no value, from a program that does not calculate. */
const UNCALCULATED =
  /<(\w+:)?c( [^<>]*)?>\s*<(?:\w+:)?f(?: [^<>]*)?(?:\/>|>[^<]*<\/(?:\w+:)?f>)(?:\s*<(?:\w+:)?v(?: ?\/>|><\/(?:\w+:)?v>))?\s*<\/(?:\w+:)?c>/g

/** Turns an uncalculated cell into an error cell, which refuses its row. A text may be empty. */
const repairUncalculated = (cell: string, prefix = '', attributes = ''): string =>
  / t="(?!n")/.test(attributes)
    ? cell
    : `<${prefix}c${attributes.replace(' t="n"', '')} t="e"><${prefix}v>a formula without a stored value</${prefix}v></${prefix}c>`

/** An error in a cell of OpenDocument. */
const ODF_ERROR = /(calcext:value-type="error"[^>]*>\s*<text:p>)([^<]*)/g
const KNOWN_ERROR = /^#(NULL!|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|N\/A)$/

const knownError = (cell: string, prefix: string, error: string): string =>
  KNOWN_ERROR.test(error) ? cell : `${prefix}#VALUE!`

/** A cell of OpenDocument without a text, which SheetJS leaves out, even if it has a value. */
const ODF_WITHOUT_TEXT = /<table:table-cell ([^<>]*)(?:\/>|>\s*<\/table:table-cell>)/g

const addEmptyText = (cell: string, attributes: string): string =>
  attributes.includes('office:value-type=')
    ? `<table:table-cell ${attributes}><text:p></text:p></table:table-cell>`
    : cell

/** Removes pictures and shapes, whose texts SheetJS adds to the cells below them. */
function withoutDrawings(xml: string): string {
  let [output, start, depth] = ['', 0, 0]
  for (const { 0: tag, 1: end, index } of xml.matchAll(/<(\/?)draw:[^<>]*>/g)) {
    if (depth === 0) output += xml.slice(start, index)
    if (end === '/') depth -= 1
    else if (!tag.endsWith('/>')) depth += 1
    start = index + tag.length
  }
  return output + xml.slice(start)
}

/** A space at the end of a text of OpenDocument, which SheetJS drops. */
const LAST_SPACE = / <\/text:p>/g

const repairOpenDocument = (xml: string): string =>
  withoutDrawings(xml)
    .replace(LAST_SPACE, '<text:s/></text:p>')
    .replace(ODF_ERROR, knownError)
    .replace(ODF_WITHOUT_TEXT, addEmptyText)

/** Rewrites the markup that SheetJS misreads in a part. Throws a `TypeError` if its text is not UTF-8. */
export function repairPart(name: string, part: Uint8Array): Uint8Array {
  if (!/\.xml$/i.test(name)) return part
  const text = new TextDecoder('utf-8', { fatal: true }).decode(part)
  let result = text.includes('&#') ? text.replace(LARGE_REFERENCE, resolveReference) : text
  if (name === 'content.xml') result = repairOpenDocument(result)
  else if (/<(?:\w+:)?f[ />]/.test(text)) result = result.replace(UNCALCULATED, repairUncalculated)
  return result === text ? part : UTF8.encode(result)
}
