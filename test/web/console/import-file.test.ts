// A chosen file is read in small pieces, so that the page stays usable meanwhile.
import { expect, test } from 'bun:test'
import { USUAL_SETTINGS } from '../../../src/formats/question'
import { openFile } from '../../../src/web/console/import/readable-file'
import { cpuTime } from '../../harness/cpu-time'

test('a large file is read in pieces of at most 64 KB', async () => {
  const text = `id,name\n${Array.from({ length: 100_000 }, (_, i) => `${i},plant ${i}\n`).join('')}`
  const { rows, table } = await openFile(
    new File([text], 'a.csv'),
    USUAL_SETTINGS,
    new AbortController().signal,
  )
  const pieces: number[] = []
  let read = 0
  for await (const part of rows((bytes) => pieces.push(bytes))) read += part.length

  expect(read).toBe(100_000)
  expect(pieces.reduce((sum, piece) => sum + piece, 0)).toBe(text.length)
  expect(Math.max(...pieces)).toBeLessThanOrEqual(65_536)
  // The guess at the columns sees only the first rows.
  expect(table.sample.length).toBeLessThan(10_000)
})

test('the lists of a long JSON document are found without blocking the page', async () => {
  const list = Array.from({ length: 200_000 }, (_, id) => ({ id, name: 'Rose' }))
  const bytes = new TextEncoder().encode(JSON.stringify({ one: list, two: list }))
  // Browsers may deliver several megabytes at once.
  const stream = () =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(bytes)
        controller.close()
      },
    })
  const file = Object.assign(new File([bytes], 'a.json'), { stream })
  const turns: number[] = [cpuTime()]
  const timer = setInterval(() => turns.push(cpuTime()))
  const opening = openFile(file, USUAL_SETTINGS, new AbortController().signal)
  await expect(opening).rejects.toThrow('the plants may be in the list')
  clearInterval(timer)
  turns.push(cpuTime())
  const spans = turns.slice(1).map((turn, at) => turn - (turns[at] ?? 0))
  const all = (turns.at(-1) ?? 0) - (turns[0] ?? 0)

  expect(Math.max(...spans)).toBeLessThan(all / 4)
})
