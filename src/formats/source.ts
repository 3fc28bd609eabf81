// The bytes of a file: a stream that can be read once, or a file that can be opened again.

import { OpenError } from '../errors'
import type { Words } from './words'

/** Opens a file from its beginning: to look at what it is, any number of times, and once to read it. */
export type Opener = (purpose: 'look' | 'read') => AsyncIterable<Uint8Array>

export type Source = AsyncIterable<Uint8Array> | Opener

/**
 * Opens a source, again and again until `release`: of a stream, up to `limit` bytes are kept until then. Whatever reads it after
 * that ends it.
 */
export function replayable(
  source: Source,
  limit: number,
  words: Words,
): { open: Opener; release: () => void } {
  if (typeof source === 'function') return { open: source, release: () => {} }
  const stream = source[Symbol.asyncIterator]()
  const kept: Uint8Array[] = []
  let length = 0
  let isKept = true

  async function* open(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; ; ) {
        const part = kept[at]
        if (part) {
          at += 1
          // From then on, a part is needed only until it is read.
          if (!isKept) at -= kept.splice(0, at).length
          yield part
          continue
        }
        const next = await stream.next()
        if (next.done) return
        if (isKept) {
          length += next.value.length
          if (length > limit) throw new OpenError(`the first value is too long; ${words.reading}`)
          kept.push(next.value)
          at += 1
        }
        yield next.value
      }
    } finally {
      if (!isKept) await stream.return?.()
    }
  }

  return {
    open,
    release(): void {
      isKept = false
    },
  }
}
