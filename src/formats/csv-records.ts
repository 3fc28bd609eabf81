// Comma-separated values (RFC 4180), also with another delimiter: splits a text that arrives in parts into records.

/** A record. `line`: its last line, counted from 1; `quoted`: the indexes of the fields that were in quotes. */
export type CsvRecord = {
  readonly line: number
  readonly fields: readonly string[]
  readonly quoted: readonly number[]
}

/** Why the records from here on cannot be told apart, and where. `field`: the index of the faulty field, if known. */
export type CsvFault = {
  readonly line: number
  readonly fault: 'stray quote' | 'unterminated quote' | 'too long'
  readonly field: number | null
}

// A record or a fault within a text, and where it ends; `line` counts from 0.
type Found = { readonly end: number } & (CsvRecord | CsvFault)

const LINE_END = /\r\n|\n|\r/
// An unfinished record of this length is read again only when it has doubled: otherwise it would take quadratic time.
const LONG = 65_536

// A line end at the end of the text begins no new line.
function countNextLines(text: string): number {
  const lines = text.split(LINE_END)
  return lines.length - (lines.at(-1) === '' ? 2 : 1)
}

// The index of the quote that closes a field; -1 if the text does not have it.
function findClosingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  return at
}

// The end of a field without quotes.
function findEnd(text: string, from: number, delimiter: string): number {
  let at = from
  for (; at < text.length; at++) {
    const it = text[at]
    if (it === delimiter || it === '\n' || it === '\r' || it === '"') break
  }
  return at
}

/** Reads any record, with its line end; null if it may continue after the text. */
function readRecord(
  text: string,
  start: number,
  isWhole: boolean,
  delimiter: string,
): Found | null {
  const fields: string[] = []
  const quoted: number[] = []
  let line = 0
  for (let at = start; ; at++) {
    const field = fields.length
    if (text[at] === '"') {
      const close = findClosingQuote(text, at + 1)
      const end = close + 1
      if (close < 0) return isWhole ? { line, fault: 'unterminated quote', field, end } : null
      line += countNextLines(text.slice(at, end))
      fields.push(text.slice(at + 1, close).replaceAll('""', '"'))
      quoted.push(field)
      at = end
    } else {
      const end = findEnd(text, at, delimiter)
      fields.push(text.slice(at, end))
      at = end
    }
    const next = text[at]
    if (next === delimiter) continue
    if (next === undefined) return isWhole ? { line, fields, quoted, end: at } : null
    if (next === '\n') return { line, fields, quoted, end: at + 1 }
    if (next !== '\r') return { line, fault: 'stray quote', field, end: at }
    if (at + 1 === text.length && !isWhole) return null
    return { line, fields, quoted, end: text[at + 1] === '\n' ? at + 2 : at + 1 }
  }
}

const isEmpty = ({ fields, quoted }: CsvRecord): boolean =>
  fields.length === 1 && fields[0] === '' && quoted.length === 0

/**
 * Returns a function that takes the next part of a text, and returns the records that end in it, without empty lines.
 * Nothing follows a fault. A record has at most `limit` characters. `delimiter`: one character.
 */
export function createCsvReader(limit: number, delimiter: string) {
  let rest = ''
  let line = 1
  let enough = 0

  return (part: string, isWhole: boolean): (CsvRecord | CsvFault)[] => {
    const records: (CsvRecord | CsvFault)[] = []
    const text = rest + part
    let start = 0
    while (start < text.length && (text.length >= enough || isWhole)) {
      const found = readRecord(text, start, isWhole, delimiter)
      if (!found) break
      if (found.end - start > limit) return [...records, { line, fault: 'too long', field: null }]
      line += found.line
      if ('fault' in found) return [...records, { line, fault: found.fault, field: found.field }]
      if (!isEmpty(found)) records.push({ line, fields: found.fields, quoted: found.quoted })
      line += 1
      start = found.end
    }
    rest = text.slice(start)
    if (rest.length > limit) return [...records, { line, fault: 'too long', field: null }]
    // If no record was read, the length to wait for stays the same.
    if (start > 0 || rest.length >= enough) {
      enough = rest.length < LONG ? 0 : Math.min(2 * rest.length, limit + 1)
    }
    return records
  }
}
