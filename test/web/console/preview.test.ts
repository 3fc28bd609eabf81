// The questions about a file before its import, with a real daemon.
import { expect, spyOn, test } from 'bun:test'
import { detectFile } from '../../../src/web/console/import/detect-file'
import { Preview } from '../../../src/web/console/import/preview'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'
import { openList } from './opened-list'

const { daemon } = ownDaemon()
const { signal } = new AbortController()

/** Opens the preview of a file, and records the pages of stored plants that it reads. */
async function open(text: string) {
  const { session } = await openList(daemon)
  const detection = await detectFile(new File([text], 'plants.csv'), signal)
  const fetched = spyOn(globalThis, 'fetch')
  const pages = () => fetched.mock.calls.filter(([url]) => String(url).includes('limit=1000'))
  const preview = new Preview(detection, session, new Map())
  return { session, preview, pages, [Symbol.dispose]: () => fetched.mockRestore() }
}

const isWhole = ({ analysis }: Preview) => analysis.value?.isWhole === true

test('a file of new plants is accepted as detected, and compared once', async () => {
  using opened = await open('id,name\n11,Fern\n12,Ivy\n')
  const { preview, pages } = opened

  expect(await preview.acceptDetected()).toBeTrue()
  expect(await preview.decision).toMatchObject({
    replaces: false,
    comparison: { created: 2, differing: 0 },
  })
  expect(pages()).toHaveLength(1)
})

test('a file with a plant that differs raises a question, and is not compared again', async () => {
  await daemon.create('{"id":1,"name":"Rose"}')
  using opened = await open('id,name\n1,Rosa\n2,Ivy\n')
  const { session, preview, pages } = opened

  expect(await preview.acceptDetected()).toBeFalse()
  await preview.prepare()
  await until('the comparison', () => isWhole(preview))
  // A second comparison would read its page before the last of these responses arrives.
  for (let turn = 0; turn < 10; turn++) await session.call((client) => client.readStatus())
  preview.replaces.value = true
  preview.accept()
  expect(await preview.decision).toMatchObject({
    replaces: true,
    comparison: { created: 1, differing: 1 },
  })
  expect(pages()).toHaveLength(1)
})

test('a comparison of the earlier columns is not used', async () => {
  using opened = await open('old,new,name\n1,31,Rose\n2,32,Ivy\n')
  const { preview } = opened
  preview.choose({ id: 0, name: [2] })
  await until('the comparison', () => isWhole(preview))

  preview.choose({ id: 1 })
  preview.accept()
  expect(await preview.decision).toMatchObject({ columns: { id: 1 }, comparison: null })
})

test('newly chosen columns replace nothing before their plants are compared', async () => {
  await daemon.create('{"id":101,"name":"Precious"}')
  using opened = await open('id,number,name\n1,101,Rosa\n')
  const { preview } = opened
  await preview.prepare()
  await until('the comparison', () => isWhole(preview))
  preview.replaces.value = true
  preview.choose({ id: 1 })
  preview.accept()
  expect(isWhole(preview)).toBeFalse()
  await until('the next comparison', () => isWhole(preview))
  preview.accept()
  const input = await preview.decision
  expect(input?.comparison?.storedOf(101n)?.name).toBe('Precious')
  await daemon.fetch('/plants/101', { method: 'DELETE' })
})

test('cells with a chosen mark of missing values are read as empty', async () => {
  using opened = await open('id,name,tag\n61,Fern,NA\n62,NA,shade\n')
  const { preview } = opened
  await preview.prepare()
  await until('the preview', () => isWhole(preview))
  const before = preview.analysis.value
  await preview.read({ null: ['NA'] })
  preview.cancel()

  expect(before?.notices).toEqual([
    'NA is stored as text in 2 cells; type NA as the text of empty cells to leave it out',
  ])
  expect(preview.analysis.value).toMatchObject({
    examples: [{ id: 61n, name: 'Fern' }],
    refused: 1,
    notices: [],
  })
})
