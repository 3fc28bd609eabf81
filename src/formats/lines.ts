// Lines of a stream of bytes.

const NEWLINE = 10

/**
 * Whole lines of a file, without the last line feed. `number`: that of the first line, counted from 1. `bytes` is null
 * for a single line beyond the limit.
 */
export type Lines = { readonly number: number; readonly bytes: Uint8Array | null }

/** The lines of bytes, without their line feeds. */
export function splitLines(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  let start = 0
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  return [...lines, bytes.subarray(start)]
}

/** The line feeds among bytes. */
export function countFeeds(bytes: Uint8Array): number {
  let feeds = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) feeds++
  return feeds
}

function concat(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/**
 * Splits a stream into whole lines, those that end in a chunk together, in memory bounded by a chunk and a line of `limit`
 * bytes. The limit only applies to a line that began in an earlier chunk.
 */
export async function* readLines(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Lines> {
  let number = 1
  let rest: Uint8Array[] = []
  let length = 0

  const take = (last: Uint8Array): Lines => {
    length += last.length
    const bytes = length > limit ? null : concat([...rest, last], length)
    rest = []
    length = 0
    return { number: number++, bytes }
  }

  for await (const chunk of stream) {
    let start = 0
    if (length > 0) {
      const end = chunk.indexOf(NEWLINE)
      if (end >= 0) {
        yield take(chunk.subarray(0, end))
        start = end + 1
      }
    }
    const end = chunk.lastIndexOf(NEWLINE)
    if (end >= start) {
      const bytes = chunk.subarray(start, end)
      yield { number, bytes }
      number += countFeeds(bytes) + 1
      start = end + 1
    }
    const tail = chunk.subarray(start)
    length += tail.length
    // Only the length of a line that is too long is kept.
    if (length <= limit) rest.push(tail.slice())
    else rest = []
  }
  if (length > 0) yield take(new Uint8Array())
}
