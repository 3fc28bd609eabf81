// What was changed is taken back, in each browser: `bun run test:browser`.
import { beforeEach, expect, test } from 'bun:test'
import { TOKEN } from '../../../harness/daemon'
import { ownDaemon } from '../../../harness/own-daemon'
import { ownPages } from '../../../harness/own-pages'
import { storedPlants } from '../../../harness/plants'
import { until } from '../../../harness/until'
import { inEachBrowser } from './browsers'
import * as labels from './labels'

ownPages()
const { daemon, database, removePlants } = ownDaemon({ args: ['--keep-changes', '1d'] })

await inEachBrowser((person, browser) => {
  beforeEach(async () => {
    await removePlants()
    for (const id of [1, 2]) await daemon.create(`{"id":${id},"name":"plant ${id}","tag":"fern"}`)
    await browser().driver.open(daemon.url)
    await person.fill(labels.token, TOKEN)
    await person.press('Enter')
    await person.find(labels.row('1'), labels.row('2'))
    await person.focus(labels.table)
  })

  test('a deletion, by the recent changes', async () => {
    await daemon.fetch('/plants/2', { method: 'DELETE' })
    await person.lose(labels.row('2'))
    await person.press('r')
    await person.find(labels.heading('Recent changes'))
    await person.click(labels.control('Restore plant 2'))
    await person.find(labels.text('Plant 2 was restored'))
    await person.isIn('dialog *')
    await person.press('Escape')
    await person.lose(labels.heading('Recent changes'))
    await person.find(labels.row('2'))

    expect(storedPlants(database)).toEqual([
      { id: 1n, name: 'plant 1', tag: 'fern' },
      { id: 2n, name: 'plant 2', tag: 'fern' },
    ])
  })

  test('an edit, by the history of the plant', async () => {
    await daemon.fetch('/plants/1', { method: 'PUT', json: { name: 'plant one' } })
    await person.find(labels.cell('1', 'plant one'))
    await person.press('Enter')
    await person.click(labels.control('Restore…'))
    await person.find(labels.text('Name: plant one → plant 1'), labels.text('Tag: none → fern'))
    await person.click(labels.control('Restore this version'))
    await person.find(labels.cell('1', 'plant 1'))
    await person.isIn('dialog *')

    expect(storedPlants(database)[0]).toEqual({ id: 1n, name: 'plant 1', tag: 'fern' })
  })

  test('the deletion of many, but for an id that is taken', async () => {
    const MANY = 200
    const others = Array.from({ length: MANY - 2 }, (_, at) => ({ id: at + 3, name: 'plant' }))
    await daemon.fetch('/plants/batch', { json: { plants: others } })
    await person.find(labels.row('9'))
    const before = storedPlants(database)
    await person.focus(labels.table)
    await person.press('Control', 'a')
    await person.find(labels.selected(`All ${MANY} selected`))
    await person.click(labels.deleteAll)
    await until('the end of the deletion', () => storedPlants(database).length === 0)
    await daemon.create('{"id":7,"name":"theirs"}')
    await person.focus(labels.table)
    await person.press('Control', 'z')
    await person.find(
      labels.text(
        `Undid the deletion of ${MANY} plants; left out: plant 7 (the ID is taken); Ctrl+Shift+Z does it again`,
      ),
    )

    await person.find(labels.row('1'), labels.row('2'))
    const theirs = { id: 7n, name: 'theirs', tag: null }
    expect(storedPlants(database)).toEqual(before.map((it) => (it.id === 7n ? theirs : it)))
  })
})
