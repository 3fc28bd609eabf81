// The form of a plant in the console, with a real daemon.
import { describe, expect, test } from 'bun:test'
import { PlantForm } from '../../../src/web/console/editor/plant-form'
import { ownDaemon } from '../../harness/own-daemon'
import { openList } from './opened-list'

const { daemon, stored } = ownDaemon()

/** Saves a form of plant 5 after someone else changed the plant, or deleted it if `theirs` is null. */
async function typeLate(
  theirs: object | null,
  texts: { readonly name?: string; readonly tag?: string },
) {
  await daemon.fetch('/plants/5', { method: 'DELETE' })
  await daemon.create('{"id":5,"name":"two\\r\\nlines","tag":"old"}')
  const { list, said } = await openList(daemon)
  const form = new PlantForm(list, { plant: { id: 5n, name: '' }, etag: undefined })
  await form.readAgain()
  const change = theirs ? { method: 'PATCH', json: theirs } : { method: 'DELETE' }
  await daemon.fetch('/plants/5', change)
  for (const [name, text] of Object.entries(texts))
    form.draft.texts[name as keyof typeof texts].value = text
  return { form, said, isSaved: await form.save(), stored: () => stored(5n) }
}

describe('a form that is saved after someone else', () => {
  test('keeps both changes to different fields, and says so', async () => {
    const { isSaved, said, stored } = await typeLate({ name: 'theirs' }, { tag: 'mine' })

    expect(isSaved).toBeTrue()
    expect(said).toEqual(['Plant 5 was changed; the name that someone else saved was kept'])
    expect(stored()).toEqual({ id: 5n, name: 'theirs', tag: 'mine' })
  })

  test('asks about a field that both changed, and keeps the other field as saved', async () => {
    const theirs = { name: 'theirs', tag: 'theirs too' }
    const { form, isSaved, stored } = await typeLate(theirs, { tag: 'mine' })

    expect(isSaved).toBeFalse()
    expect(form.conflict.value?.fields).toEqual(['tag'])
    expect(form.draft.texts.name.value).toBe('theirs')
    form.conflict.value = null
    expect(await form.save()).toBeTrue()
    expect(stored()).toEqual({ id: 5n, name: 'theirs', tag: 'mine' })
  })

  test('keeps the typed text if the plant was deleted', async () => {
    const { form, isSaved, stored } = await typeLate(null, { name: 'too late' })

    expect(isSaved).toBeFalse()
    expect(form.isDeleted.value).toBeTrue()
    expect(form.draft.texts.name.value).toBe('too late')
    expect(stored()).toBeUndefined()
  })

  test('has nothing to undo if someone else stored the same text', async () => {
    const { form, isSaved } = await typeLate({ name: 'the same' }, { name: 'the same' })

    expect(isSaved).toBeTrue()
    expect(form.lastStep).toBeNull()
  })

  test('changes only what was typed: Windows line ends stay, and an emptied tag is removed', async () => {
    const { isSaved, stored } = await typeLate({}, { tag: '' })

    expect(isSaved).toBeTrue()
    expect(stored()).toEqual({ id: 5n, name: 'two\r\nlines', tag: null })
  })
})

test('a taken id is replaced by a free one; a missing or too large one is refused', async () => {
  await daemon.create('{"id":1,"name":"Rosa","tag":"rose"}')
  const { list } = await openList(daemon)
  const form = new PlantForm(list, null)
  form.draft.id.value = '1'
  form.draft.texts.name.value = 'Fern'

  expect(await form.save()).toBeFalse()
  expect(form.errors.value).toEqual({ id: 'this id belongs to a different plant' })
  expect(form.draft.id.value).toBe('1')
  expect(stored(1n)?.name).toBe('Rosa')

  form.useFreeId(Promise.resolve([7n]))
  expect(form.check()).toBeTrue()
  await form.proposing
  expect(form.errors.value).toEqual({})
  expect(form.draft.id.value).toBe('8')
  for (const [id, reason] of [
    ['', 'id is missing'],
    ['x', expect.stringContaining('expected an integer from')],
    ['9223372036854775808', expect.stringContaining('expected an integer from')],
  ] as const) {
    form.draft.id.value = id
    expect(await form.save()).toBeFalse()
    expect(form.errors.value).toEqual({ id: reason })
  }
})
