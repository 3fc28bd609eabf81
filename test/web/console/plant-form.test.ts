// The form of a plant in the console, with a real daemon.
import { expect, test } from 'bun:test'
import { PlantForm } from '../../../src/web/console/editor/plant-form'
import { ownDaemon } from '../../harness/own-daemon'
import { storedPlants } from '../../harness/plants'
import { openList } from './opened-list'

const { daemon, database } = ownDaemon()

test('refuses a taken id, and replaces it by a free one', async () => {
  await daemon.create('{"id":1,"name":"Rosa","tag":"rose"}')
  const { list } = await openList(daemon)
  const form = new PlantForm(list, null)
  form.draft.id.value = '1'
  form.draft.texts.name.value = 'Fern'

  expect(await form.save()).toBeFalse()
  expect(form.errors.value).toEqual({ id: 'this id belongs to a different plant' })
  expect(form.draft.id.value).toBe('1')
  expect(storedPlants(database).map(({ name }) => name)).toEqual(['Rosa'])

  form.useFreeId(Promise.resolve([7n]))
  expect(form.check()).toBeTrue()
  await form.proposing
  expect(form.errors.value).toEqual({})
  expect(form.draft.id.value).toBe('8')
})
