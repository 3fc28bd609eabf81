// A file or standard input, read to its end or until it is interrupted.

import { accessSync, constants, statSync } from 'node:fs'
import { explainInput, UsageError } from '../errors'

/** A stream to read, and its length; null: not known. */
export type Input = { readonly stream: AsyncIterable<Uint8Array>; readonly bytes: number | null }

/** Opens a file, or standard input for `-`. Throws an `OpenError` if it cannot be read. */
export function openInput(path: string): Input {
  if (path === '-') return { stream: Bun.stdin.stream(), bytes: null }
  try {
    const stat = statSync(path)
    if (stat.isDirectory()) throw new UsageError(`${path} is a folder; name a file`)
    accessSync(path, constants.R_OK)
    return { stream: Bun.file(path).stream(), bytes: stat.isFile() ? stat.size : null }
  } catch (error) {
    throw error instanceof UsageError ? error : explainInput(error, path)
  }
}

/** The chunks of an input until `signal` is aborted, even while waiting for a chunk. */
export async function* readInput(
  { stream }: Input,
  path: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const chunks = stream[Symbol.asyncIterator]()
  const aborted = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null))
  })
  for (;;) {
    const next = chunks.next().catch((error) => {
      throw explainInput(error, path)
    })
    const chunk = await Promise.race([next, aborted])
    if (chunk === null || chunk.done || signal.aborted) return
    onBytes(chunk.value.byteLength)
    yield chunk.value
  }
}
