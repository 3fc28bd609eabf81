// The bytes of a file: a stream that can be read once, or a file that can be opened again.

import { OpenError } from '../errors'

/** Opens a file from its beginning: any number of times to inspect it, and then once to read it. */
export type Opener = (purpose: 'inspect' | 'read') => AsyncIterable<Uint8Array>

export type Source = AsyncIterable<Uint8Array> | Opener

/** Opens a stream like a file. Up to `limit` bytes of it can be inspected, which are kept until they are read. */
export function replay(stream: AsyncIterable<Uint8Array>, limit: number): Opener {
  const parts = stream[Symbol.asyncIterator]()
  const kept: Uint8Array[] = []
  let length = 0

  async function* inspect(): AsyncGenerator<Uint8Array> {
    for (let index = 0; ; index++) {
      if (index === kept.length) {
        const { value, done } = await parts.next()
        if (done) return
        length += value.length
        if (length > limit)
          throw new OpenError('the first value is too long; save its list as a file of its own')
        kept.push(value)
      }
      const part = kept[index]
      if (part) yield part
    }
  }

  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (let part = kept.shift(); part; part = kept.shift()) yield part
      for (let next = await parts.next(); !next.done; next = await parts.next()) yield next.value
    } finally {
      await parts.return?.()
    }
  }

  return (purpose) => (purpose === 'read' ? read() : inspect())
}
