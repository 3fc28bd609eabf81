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
    await browser().driver.open(`${daemon.url}/#token=${TOKEN}`)
    await person.find(labels.row('1'), labels.row('2'))
    await person.focus(labels.table)
  })

  test('undo restores many deleted plants, but for an id that is taken', async () => {
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
    expect(storedPlants(database)).toEqual(
      before.map((plant) => (plant.id === 7n ? theirs : plant)),
    )
  })
})
