// Detects parts of a workbook that are cut off, which SheetJS would read without an error.

/** The records that end a binary sheet and binary texts: BrtEndSheet and BrtEndSst ([MS-XLSB] 2.3.2). */
const LAST_RECORDS = [
  [/worksheets\/[^/]*\.bin$/i, '130,1,0'],
  [/sharedStrings\.bin$/i, '160,1,0'],
] as const

const ENDS_BYTES = 4096
const NOT_ELEMENTS = /<!--.*?-->|<\?.*?\?>|<![^>]*>/gs

/** The encoding of an XML document, by its byte order mark. */
export const xmlEncoding = ([first, second]: Uint8Array) =>
  first === 0xff && second === 0xfe
    ? 'utf-16le'
    : first === 0xfe && second === 0xff
      ? 'utf-16be'
      : 'utf-8'

/** True if a document ends with the end of its root element. */
function isWholeXml(part: Uint8Array): boolean {
  const decoder = new TextDecoder(xmlEncoding(part))
  const [head, tail] = [part.subarray(0, ENDS_BYTES), part.subarray(-ENDS_BYTES)].map((bytes) =>
    decoder.decode(bytes).replace(NOT_ELEMENTS, ''),
  )
  const [, root] = /<([^\s/>]+)/.exec(head ?? '') ?? []
  const [, closingTag] = /<\/([^\s>]+)\s*>\s*$/.exec(tail ?? '') ?? []
  // A root element without content has no other end.
  const isEmpty = part.length <= ENDS_BYTES && /^[^<]*<[^<]*\/>\s*$/.test(tail ?? '')
  return root !== undefined && (closingTag === root || isEmpty)
}

/** True if a part of a workbook ends as parts of this name do; only XML and some binary parts are checked. */
export function isWholePart(name: string, part: Uint8Array): boolean {
  if (/\.(xml|rels)$/i.test(name)) return isWholeXml(part)
  const end = part.subarray(-3).join()
  return LAST_RECORDS.every(([names, last]) => !names.test(name) || end === last)
}
