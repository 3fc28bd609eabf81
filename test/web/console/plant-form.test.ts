// The form of a plant in the console, with a real daemon.
import { beforeEach, expect, test } from 'bun:test'
import { PlantForm } from '../../../src/web/console/editor/plant-form'
import { PlantList } from '../../../src/web/console/list/plant-list'
import { Session } from '../../../src/web/console/session'
import { TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { storedPlants } from '../../harness/plants'
import { openList } from './opened-list'

const { daemon, database } = ownDaemon()

const said: string[] = []

/** A form of plant 1, as it is stored now. */
async function open(): Promise<PlantForm> {
  const session = new Session(new URL(`${daemon.url}/`))
  await session.connect(TOKEN)
  const announce = (text: string): void => void said.push(text)
  const list = new PlantList(session, announce, () => {})
  const form = new PlantForm(list, {
    plant: { id: 1n, name: 'Rosa' },
    etag: undefined,
  })
  await form.readAgain()
  return form
}

beforeEach(async () => {
  said.length = 0
  await daemon.fetch('/plants/1', { method: 'DELETE' })
  await daemon.create('{"id":1,"name":"Rosa","tag":"rose"}')
})

test.each([
  ['an empty tag', { name: 'Rosa', tag: '' }],
  ['a line break of another system', { name: 'Rosa\r\nalba', tag: 'rose' }],
  ['no tag', { name: 'Rosa alba' }],
])('restores an earlier version exactly: %s', async (_, version) => {
  const form = await open()

  await form.restore(version)

  expect(storedPlants(database)).toEqual([{ id: 1n, tag: null, ...version }])
  expect(said).toEqual(['Plant 1 was restored'])
  expect(form.isDirty).toBeFalse()
})

test('restores no version of a plant that someone else has changed meanwhile, in another field too', async () => {
  const form = await open()
  await daemon.fetch('/plants/1', { method: 'PATCH', json: { tag: 'theirs' } })

  await form.restore({ name: 'Rosa alba', tag: 'rose' })

  expect(storedPlants(database)).toEqual([{ id: 1n, name: 'Rosa', tag: 'theirs' }])
  expect(said).toEqual(['Plant 1 was not restored: someone else has just changed it'])
  expect(form.storedVersion.value?.plant.tag).toBe('theirs')
  expect(form.isDirty).toBeFalse()

  await form.restore({ name: 'Rosa alba', tag: 'rose' })
  expect(storedPlants(database)).toEqual([{ id: 1n, name: 'Rosa alba', tag: 'rose' }])
})

test('keeps a plant deleted that someone else has deleted before a version was restored', async () => {
  const form = await open()
  await daemon.fetch('/plants/1', { method: 'DELETE' })

  await form.restore({ name: 'Rosa alba' })

  expect(storedPlants(database)).toEqual([])
  expect(form.isDeleted.value).toBeTrue()
})

test('names the plant that has the id of a new one, and replaces the id by a free one', async () => {
  const { list } = await openList(daemon)
  const form = new PlantForm(list, null)
  form.draft.id.value = '1'
  form.draft.texts.name.value = 'Fern'

  expect(await form.save()).toBeFalse()
  expect(form.errors.value).toEqual({ id: 'this id belongs to a different plant, “Rosa”' })
  expect(form.draft.id.value).toBe('1')
  expect(storedPlants(database).map(({ name }) => name)).toEqual(['Rosa'])

  form.useFreeId(Promise.resolve([7n]))
  expect(form.check()).toBeTrue()
  await form.proposing
  expect(form.errors.value).toEqual({})
  expect(form.draft.id.value).toBe('8')
})
