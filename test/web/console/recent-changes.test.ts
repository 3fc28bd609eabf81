// The recent changes of the console, read from a real daemon.
import { beforeAll, expect, test } from 'bun:test'
import { createAnnouncer } from '../../../src/web/console/announcer'
import { ChangeQueue } from '../../../src/web/console/change-queue'
import { RecentChanges } from '../../../src/web/console/recent/recent-changes'
import { UndoHistory } from '../../../src/web/console/undo/undo-history'
import { ownDaemon } from '../../harness/own-daemon'
import { numbered, openList } from './opened-list'

const { daemon, createPlants, createToken } = ownDaemon({ args: ['--keep-changes', '1d'] })

async function open(): Promise<RecentChanges> {
  const { list } = await openList(daemon)
  return new RecentChanges(list, new UndoHistory(list, createAnnouncer(), new ChangeQueue()))
}

async function newest(recent: RecentChanges) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = recent.visibleChanges.subscribe((shown) => {
    if (shown.length > 0) resolve()
  })
  await promise
  stop()
  const [change] = recent.visibleChanges.value
  if (!change) throw new Error('nothing changed')
  return change
}

beforeAll(async () => {
  const headers = { authorization: `Bearer ${await createToken('greenhouse')}` }
  await daemon.fetch('/plants/1', {
    method: 'PUT',
    headers: { ...headers, 'if-none-match': '*' },
    json: { name: 'Rosa' },
  })
  await createPlants(numbered(1000, 3000, 'many'))
})

test('the author of a change behind a large import is found; a restore meanwhile repeats none', async () => {
  await daemon.fetch('/plants/1001', { method: 'DELETE' })
  const recent = await open()
  await recent.read()
  const deletion = await newest(recent)
  const reading = recent.choose({ text: 'GREEN rosa' })
  expect(recent.isReading.value).toBeTrue()

  await Promise.all([recent.restore(deletion), recent.restore(deletion), reading])

  expect(recent.matches.value.map(({ id }) => id)).toEqual([1n])
  expect(recent.undoHistory.announcer.sentence.value).toBe('Created plant 1001; Ctrl+Z undoes it')
  expect(recent.undoHistory.undoItems.value).toHaveLength(1)
  expect(recent.isStored(1001n)).toBeTrue()
  await recent.choose({ text: '' })
  const again = await open()
  await again.choose({ text: 'GREEN rosa' })
  await again.choose({ text: '' })
  expect(recent.matches.value.map(({ cursor }) => cursor)).toEqual(
    again.matches.value.map(({ cursor }) => cursor),
  )
})

test('the list starts over after more changes than fit a page', async () => {
  await daemon.fetch('/plants/1003', { method: 'DELETE' })
  const recent = await open()
  await recent.read()
  const deletion = await newest(recent)
  await createPlants(numbered(10_000, 1000, 'many'))

  await recent.restore(deletion)

  const { cursor } = await newest(recent)
  const again = await open()
  await again.read()
  expect((await newest(again)).cursor).toBe(cursor)
  await recent.read()
  expect(recent.matches.value).toHaveLength(again.matches.value.length)
})
