// The parts of a ZIP archive, unpacked within a limit.

import { type FileEntry, Uint8ArrayReader, ZipReader } from '@zip.js/zip.js/lib/zip-core-native.js'
import { concat } from '../bytes'

const isFile = (entry: { readonly directory: boolean }): entry is FileEntry => !entry.directory

/** Unpacks a part. Throws if it is damaged, or has more bytes than the directory claims. */
async function unpackFile(entry: FileEntry): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  const writable = new WritableStream<Uint8Array>({
    write(chunk) {
      length += chunk.length
      if (length > entry.uncompressedSize) throw new Error('longer than its directory claims')
      chunks.push(chunk)
    },
  })
  await entry.getData(writable, { checkSignature: true, useWebWorkers: false })
  return concat(chunks)
}

/**
 * Unpacks the parts whose names `isWanted` accepts. `check`: called with their length, before anything is unpacked. Throws
 * if the archive is damaged.
 */
export async function unzip(
  bytes: Uint8Array,
  isWanted: (name: string) => boolean,
  check: (length: number) => void,
): Promise<Map<string, Uint8Array>> {
  const entries = await new ZipReader(new Uint8ArrayReader(bytes)).getEntries()
  const files = entries.filter(isFile).filter(({ filename }) => isWanted(filename))
  check(files.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0))
  const contents = new Map<string, Uint8Array>()
  for (const entry of files) contents.set(entry.filename, await unpackFile(entry))
  return contents
}
