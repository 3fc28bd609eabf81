import { describe, expect, test } from 'bun:test'
import { appendFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { openInput, readInput } from '../../src/files/input'
import { temporaryFolder } from '../harness/daemon'

const CHUNKS = 40
const CHUNK_BYTES = 100_000

test('releases input once it is read, however long it is', async () => {
  const read: WeakRef<Uint8Array>[] = []
  async function* chunks() {
    for (let n = 0; n < CHUNKS; n++) {
      const chunk = new Uint8Array(CHUNK_BYTES)
      read.push(new WeakRef(chunk))
      yield chunk
      await Bun.sleep(0)
    }
  }
  const { signal } = new AbortController()
  const input = { stream: chunks(), bytes: null }
  let bytes = 0
  let kept = CHUNKS

  for await (const part of readInput(input, '-', signal, () => {})) {
    bytes += part.byteLength
    if (bytes < CHUNKS * CHUNK_BYTES) continue
    Bun.gc(true)
    kept = read.filter((chunk) => chunk.deref()).length
  }

  expect(bytes).toBe(CHUNKS * CHUNK_BYTES)
  // The last ones may still be on the stack.
  expect(kept).toBeLessThan(CHUNKS / 4)
})

test('ends when it is interrupted, also while it waits for more', async () => {
  async function* stuck() {
    yield Buffer.from('one')
    await new Promise(() => {})
  }
  const controller = new AbortController()
  const input = { stream: stuck(), bytes: null }
  const parts: string[] = []

  for await (const part of readInput(input, '-', controller.signal, () => {})) {
    parts.push(Buffer.from(part).toString())
    setTimeout(() => controller.abort(), 1)
  }

  expect(parts).toEqual(['one'])
})

test('reports why the input cannot be read', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('one')
    throw Object.assign(new Error('EIO'), { code: 'EIO' })
  }
  const { signal } = new AbortController()
  const reading = readInput({ stream: broken(), bytes: null }, 'plants.csv', signal, () => {})

  expect((await reading.next()).value).toEqual(Buffer.from('one'))
  await expect(reading.next()).rejects.toThrow('plants.csv')
})

describe('a file that changes while it is read', () => {
  async function readWhile(change: (path: string) => void): Promise<number> {
    using folder = temporaryFolder()
    const path = folder.file('plants.csv')
    writeFileSync(path, 'id,name\n'.repeat(200_000))
    const input = openInput(path)
    let length = 0
    for await (const part of readInput(input, path, new AbortController().signal, () => {})) {
      if (length === 0) change(path)
      length += part.byteLength
    }
    return length
  }

  test.each([
    ['grows', (path: string) => appendFileSync(path, '1,Fe')],
    ['is cut off', (path: string) => truncateSync(path, 800_000)],
  ])('is not read as a whole one: it %s', async (_, change) => {
    await expect(readWhile(change)).rejects.toThrow(
      'the file changed while it was read; import it again',
    )
  })

  test('is read whole if it is only removed', async () => {
    expect(await readWhile((path) => rmSync(path))).toBe(1_600_000)
  })
})
