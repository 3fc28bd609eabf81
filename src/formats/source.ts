// The bytes of a file: a stream that can be read once, or a file that can be opened again.

import { OpenError } from '../errors'
import type { Advice } from './advice'

/** Opens a file from its beginning: any number of times to inspect it, and once to read it. */
export type Opener = (purpose: 'inspect' | 'read') => AsyncIterable<Uint8Array>

export type Source = AsyncIterable<Uint8Array> | Opener

/**
 * Opens a source, repeatedly until `release`; a stream is buffered for that, up to `limit` bytes. After `release`, the next
 * reader consumes it.
 */
export function replaySource(
  source: Source,
  limit: number,
  advice: Advice,
): { open: Opener; release: () => void } {
  if (typeof source === 'function') return { open: source, release: () => {} }
  const stream = source[Symbol.asyncIterator]()
  const replayParts: Uint8Array[] = []
  let length = 0
  let isRecording = true

  async function* open(): AsyncGenerator<Uint8Array> {
    try {
      for (let index = 0; ; ) {
        const part = replayParts[index]
        if (part) {
          index += 1
          // From then on, a part is needed only until it is read.
          if (!isRecording) index -= replayParts.splice(0, index).length
          yield part
          continue
        }
        const next = await stream.next()
        if (next.done) return
        if (isRecording) {
          length += next.value.length
          if (length > limit) throw new OpenError(`the first value is too long; ${advice.reading}`)
          replayParts.push(next.value)
          index += 1
        }
        yield next.value
      }
    } finally {
      if (!isRecording) await stream.return?.()
    }
  }

  return {
    open,
    release(): void {
      isRecording = false
    },
  }
}
