import { describe, expect, test } from 'bun:test'
import { appendFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { inputBytes, readInput } from '../../src/files/input'
import { temporaryFolder } from '../harness/daemon'

const BYTES = 4_000_000

const never = new AbortController().signal

test('releases input once it is read, however long it is', async () => {
  using folder = temporaryFolder()
  const path = folder.file('plants.csv')
  writeFileSync(path, Buffer.alloc(BYTES))
  const parts: WeakRef<Uint8Array>[] = []
  let bytes = 0
  let kept = 0

  for await (const part of readInput(path, BYTES, never, () => {})) {
    parts.push(new WeakRef(part))
    bytes += part.byteLength
    await Bun.sleep(0)
    if (bytes < BYTES) continue
    Bun.gc(true)
    kept = parts.filter((it) => it.deref()).length
  }

  expect(bytes).toBe(BYTES)
  expect(parts.length).toBeGreaterThan(40)
  // The last ones may still be on the stack.
  expect(kept).toBeLessThan(parts.length / 4)
})

test('ends when it is interrupted, even while it waits for more', async () => {
  using folder = temporaryFolder()
  const pipe = folder.file('pipe')
  Bun.spawnSync(['mkfifo', pipe])
  const writer = Bun.spawn(['sh', '-c', `exec 3> ${pipe}; printf one >&3; exec sleep 60`])
  const controller = new AbortController()
  const parts: string[] = []

  for await (const part of readInput(pipe, null, controller.signal, () => {})) {
    parts.push(Buffer.from(part).toString())
    setTimeout(() => controller.abort(), 1)
  }

  expect(parts).toEqual(['one'])
  expect(writer.exitCode).toBeNull()
  writer.kill()
})

test('reports why the input cannot be read', async () => {
  using folder = temporaryFolder()

  const reading = readInput(folder.path, null, never, () => {})

  await expect(reading.next()).rejects.toThrow(`cannot read ${folder.path}: is a folder`)
})

describe('a file that changes while it is read', () => {
  async function readWhile(change: (path: string) => void): Promise<number> {
    using folder = temporaryFolder()
    const path = folder.file('plants.csv')
    writeFileSync(path, 'id,name\n'.repeat(200_000))
    let length = 0
    for await (const part of readInput(path, inputBytes(path), never, () => {})) {
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
