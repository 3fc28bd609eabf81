export const NEWLINE = 10

/** A line of a file, counted from 1, without its line feed; null where it is longer than is read. */
export type Line = { readonly number: number; readonly bytes: Uint8Array | null }

/** Splits a stream into lines of at most `limit` bytes, in memory bounded by that. */
export async function* readLines(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Line> {
  let number = 1
  let rest: Uint8Array[] = []
  let length = 0

  const take = (last: Uint8Array): Line => {
    const bytes =
      length + last.length > limit ? null : rest.length ? Buffer.concat([...rest, last]) : last
    rest = []
    length = 0
    return { number: number++, bytes }
  }

  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield take(chunk.subarray(start, end))
      start = end + 1
    }
    const tail = chunk.subarray(start)
    length += tail.length
    // Of a line that is too long only the length is kept.
    if (length <= limit) rest.push(tail.slice())
    else rest = []
  }
  if (length > 0) yield take(new Uint8Array())
}
