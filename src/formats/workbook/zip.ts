// The parts of a ZIP archive, unpacked within a limit.

import {
  ERR_UNSUPPORTED_COMPRESSION,
  type FileEntry,
  Uint8ArrayReader,
  ZipReader,
} from '@zip.js/zip.js/lib/zip-core-native.js'
import { messageOf, OpenError } from '../../errors'
import { concat } from '../bytes'

const isFile = (entry: { readonly directory: boolean }): entry is FileEntry => !entry.directory

/** Unpacks a part of at most `limit` bytes, whatever the directory claims; null: it is longer. */
async function unpackFile(entry: FileEntry, limit: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let length = 0
  const tooLong = new AbortController()
  const writable = new WritableStream<Uint8Array>({
    write(chunk) {
      length += chunk.length
      if (length > limit) tooLong.abort()
      else chunks.push(chunk)
    },
  })
  const { signal } = tooLong
  try {
    await entry.getData(writable, { checkSignature: true, useWebWorkers: false, signal })
  } catch (error) {
    if (signal.aborted) return null
    throw new OpenError(
      messageOf(error) === ERR_UNSUPPORTED_COMPRESSION
        ? `the workbook cannot be read: ${entry.filename} is packed with an unknown method`
        : `the workbook cannot be read: ${entry.filename} is damaged`,
    )
  }
  return signal.aborted ? null : concat(chunks)
}

/**
 * Unpacks the parts whose names `isWanted` accepts. Resolves to null, before anything is unpacked, if they have more than
 * `limit` bytes together. Throws if the archive is damaged.
 */
export async function unzip(
  bytes: Uint8Array,
  limit: number,
  isWanted: (name: string) => boolean,
): Promise<ReadonlyMap<string, Uint8Array> | null> {
  const entries = await new ZipReader(new Uint8ArrayReader(bytes)).getEntries()
  const files = entries.filter(isFile).filter(({ filename }) => isWanted(filename))
  if (files.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0) > limit) return null
  let remaining = limit
  const contents = new Map<string, Uint8Array>()
  for (const entry of files) {
    const content = await unpackFile(entry, remaining)
    if (content === null) return null
    remaining -= content.length
    contents.set(entry.filename, content)
  }
  return contents
}
