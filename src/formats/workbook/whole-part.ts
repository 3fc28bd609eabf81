// Detects parts of a workbook that are cut off, which SheetJS would read without an error.

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

/** True if a part of a workbook ends as parts of this name do; only XML is checked. */
export const isWholePart = (name: string, part: Uint8Array): boolean =>
  !/\.(xml|rels)$/i.test(name) || isWholeXml(part)
