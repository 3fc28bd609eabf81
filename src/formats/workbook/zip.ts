// The parts of a ZIP archive (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT), unpacked within a limit.

import { OpenError } from '../../errors'
import { concat } from '../bytes'

const CENTRAL_HEADER = 0x02014b50
const END_OF_CENTRAL = 0x06054b50
const ZIP64_FIELD = 1
const IN_ZIP64 = 0xffffffff
const STORED = 0
const DEFLATED = 8

/** A part of an archive as its directory lists it. `size` and `checksum`: of the unpacked part, as claimed. */
type Part = {
  readonly name: string
  readonly method: number
  readonly checksum: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

const utf8 = new TextDecoder()

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The sizes and the offset that do not fit into 32 bits (section 4.5.3); the order is that of the fields that lack them. */
function readZip64(view: DataView, from: number, to: number, fields: readonly number[]): number[] {
  const found = [...fields]
  for (let at = from; at + 4 <= to; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== ZIP64_FIELD) continue
    let next = at + 4
    for (const [index, field] of fields.entries()) {
      if (field !== IN_ZIP64) continue
      found[index] = Number(view.getBigUint64(next, true))
      next += 8
    }
  }
  return found
}

/** The parts that the directory of an archive lists. Throws a `RangeError` if it is damaged. */
function listParts(bytes: Uint8Array): Part[] {
  const view = viewOf(bytes)
  let end = bytes.length - 22
  while (end >= 0 && view.getUint32(end, true) !== END_OF_CENTRAL) end--
  const parts: Part[] = []
  let at = view.getUint32(end + 16, true)
  while (at + 46 <= bytes.length && view.getUint32(at, true) === CENTRAL_HEADER) {
    const name = at + 46
    const extra = name + view.getUint16(at + 28, true)
    const comment = extra + view.getUint16(at + 30, true)
    const [size = 0, packed = 0, offset = 0] = readZip64(view, extra, comment, [
      view.getUint32(at + 24, true),
      view.getUint32(at + 20, true),
      view.getUint32(at + 42, true),
    ])
    parts.push({
      name: utf8.decode(bytes.subarray(name, extra)),
      method: view.getUint16(at + 10, true),
      checksum: view.getUint32(at + 16, true),
      packed,
      size,
      offset,
    })
    at = comment + view.getUint16(at + 32, true)
  }
  return parts
}

function packedBytes(bytes: Uint8Array, { offset, packed }: Part): Uint8Array<ArrayBuffer> {
  const view = viewOf(bytes)
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true)
  return bytes.slice(start, start + packed)
}

const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, DEFLATED, 0, 0, 0, 0, 0, 0, 0xff)
const MAX_BLOCK_BYTES = 0xffff

/** Bytes as blocks that are not compressed (RFC 1951, section 3.2.4). */
function* storedBlocks(bytes: Uint8Array<ArrayBuffer>): Generator<Uint8Array<ArrayBuffer>> {
  let at = 0
  do {
    const block = bytes.subarray(at, at + MAX_BLOCK_BYTES)
    at += MAX_BLOCK_BYTES
    const { length } = block
    yield Uint8Array.of(at >= bytes.length ? 1 : 0, length, length >> 8, ~length, ~length >> 8)
    yield block
  } while (at < bytes.length)
}

/** A part as a file of gzip (RFC 1952), of which the runtime checks the checksum and the size. */
function toGzip(packed: Uint8Array<ArrayBuffer>, { method, checksum, size }: Part): Blob {
  const end = new DataView(new ArrayBuffer(8))
  end.setUint32(0, checksum, true)
  end.setUint32(4, size, true)
  const blocks = method === STORED ? storedBlocks(packed) : [packed]
  return new Blob([GZIP_HEADER, ...blocks, end])
}

/** Unpacks a part of at most `limit` bytes, whatever the directory claims; null: it is longer. */
async function unpack(gzip: Blob, limit: number): Promise<Uint8Array | null> {
  const reader = gzip.stream().pipeThrough(new DecompressionStream('gzip')).getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length
    if (length > limit) {
      await reader.cancel()
      return null
    }
    chunks.push(next.value)
  }
  return concat(chunks)
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
  const parts = listParts(bytes).filter(({ name }) => isWanted(name))
  let left = limit
  if (parts.reduce((sum, { size }) => sum + size, 0) > limit) return null
  const unpacked = new Map<string, Uint8Array>()
  for (const part of parts) {
    if (part.method !== STORED && part.method !== DEFLATED) {
      throw new OpenError(
        `the workbook cannot be read: ${part.name} is packed with an unknown method`,
      )
    }
    const content = await unpack(toGzip(packedBytes(bytes, part), part), left).catch(() => {
      throw new OpenError(`the workbook cannot be read: ${part.name} is damaged`)
    })
    if (content === null) return null
    left -= content.length
    unpacked.set(part.name, content)
  }
  return unpacked
}
