// Imports that replace plants, their preview and their undo: `bun run test:browser`.
import { beforeEach, expect } from 'bun:test'
import { until } from '../../../harness/until'
import { numbered, ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, plants, folder, person, openWith } = ownTasks()

const PLANTS = numbered(30, 'stored')
const names = () => plants().map(({ name, tag }) => `${name} ${tag}`)

beforeEach(async () => {
  await openWith(PLANTS)
})

test('old and new values are shown first; a text without a column stays; one undo restores all', async () => {
  const file = folder.file('renamed.csv')
  const lines = PLANTS.slice(0, 25).map(({ id, name }) => `${id},new ${name}`)
  await Bun.write(file, `id,name\n${lines.join('\n')}\n31,fresh\n`)
  const before = names()
  await person.chooseFile(labels.file, file)
  await person.find(
    { kind: '[aria-label="Plants that differ"] li', name: '1 Name: plant 1 → new plant 1' },
    labels.text('Stored plants keep their tag: no column of the file has it.'),
  )
  expect(names()).toEqual(before)
  await person.click(labels.replace)
  await person.click(labels.control('Import 26 plants'))
  await until('the import', () => names().length === 31 && names()[24] === 'new plant 25 stored')
  expect(names()[0]).toBe('new plant 1 stored')

  await daemon.fetch('/plants/2', { method: 'PATCH', json: { name: 'theirs' } })
  await person.focus(labels.table)
  await person.press('Control+z')
  await person.find(
    labels.text(
      'Undid the import of renamed.csv; left out: plant 2 (someone changed it); Ctrl+Shift+Z does it again',
    ),
  )
  expect(names()).toEqual(before.with(1, 'theirs stored'))
})

test('a plant that someone else created after the comparison is not replaced', async () => {
  const file = folder.file('created.csv')
  await Bun.write(file, 'id,name\n1,mine\n31,mine\n')
  await person.chooseFile(labels.file, file)
  await person.click(labels.replace)
  await daemon.create('{"id":31,"name":"theirs"}')
  await person.click(labels.control('Import 2 plants'))
  await person.find(labels.status('created 0, replaced 1, refused 1'))
  expect([names()[0], names()[30]]).toEqual(['mine stored', 'theirs null'])
})

test('an import that is stopped during a request can be undone whole, or repeated to complete it', async () => {
  const file = folder.file('stopped.csv')
  await Bun.write(file, 'id,name\n31,fresh\n32,fresh\n')
  await person.evaluate(`(() => {
      const { fetch } = window
      window.fetch = async (url, init) => {
        const response = await fetch(url, init)
        if (init.method !== 'POST') return response
        window.fetch = fetch
        return new Promise((_, reject) => init.signal.addEventListener('abort', () => reject(init.signal.reason)))
      }
    })() ?? null`)
  await person.chooseFile(labels.file, file)
  await until('the request', () => names().length === 32)
  await person.click(labels.control('Stop'))
  await person.find(labels.status('^Stopped'))
  await person.focus(labels.table)
  await person.press('Control+z')
  await until('the undo', () => names().length === 30)
  await person.click(labels.control('Import it again'))
  await until('the import', () => names().length === 32)
})
