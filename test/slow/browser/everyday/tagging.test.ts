// Tags and new plants in the console, in each browser: `bun run test:browser`.
import { beforeEach, expect, test } from 'bun:test'
import { TOKEN } from '../../../harness/daemon'
import { ownDaemon } from '../../../harness/own-daemon'
import { ownPages } from '../../../harness/own-pages'
import { storedPlants } from '../../../harness/plants'
import { until } from '../../../harness/until'
import { inEachBrowser } from './browsers'
import * as labels from './labels'

ownPages()
const { daemon, database, stored } = ownDaemon()

const HOUSE_PLANTS = 120
const OTHERS = 35
const UNTAGGED = 45
const PLANTS = HOUSE_PLANTS + OTHERS + UNTAGGED
const tagOf = (at: number): string | undefined => {
  if (at < HOUSE_PLANTS) return 'houseplant'
  return at < HOUSE_PLANTS + OTHERS ? 'house plant' : undefined
}
const plants = Array.from({ length: PLANTS }, (_, at) => ({
  id: at + 1,
  name: `plant ${at + 1}`,
  tag: tagOf(at),
}))

const withTag = (tag: string | null): number =>
  storedPlants(database).filter((plant) => plant.tag === tag).length

await inEachBrowser((person, browser) => {
  beforeEach(async () => {
    const before = storedPlants(database).map(({ id, name, tag }) => ({
      id: Number(id),
      name,
      ...(tag === null ? {} : { tag }),
    }))
    if (before.length > 0) await daemon.fetch('/plants/batch-delete', { json: { plants: before } })
    expect((await daemon.fetch('/plants/batch', { json: { plants } })).status).toBe(200)
    await browser().driver.open(daemon.url)
    await person.fill(labels.token, TOKEN)
    await person.press('Enter')
    await person.find(labels.row('1'))
  })

  const evaluate = (expression: string) => browser().driver.evaluate(expression)
  const type = async (text: string): Promise<void> => {
    for (const character of text) await person.press(character)
  }

  test('plants without a tag are found, and get one', async () => {
    await person.click(labels.control('Tags'))
    await person.click(labels.control(`No tag ${UNTAGGED}`))
    await person.find(
      labels.control('Remove No tag'),
      labels.text(`${UNTAGGED} plants found without a tag`),
    )
    await person.lose(labels.row('1'))
    await person.click(labels.boxOfAll)
    await person.find(labels.selected(`All ${UNTAGGED} selected`))
    await person.fill(labels.tagForAll, 'new')
    await person.press('Enter')

    await person.find(labels.text('Every plant has a tag.'))
    await until('the tags', () => withTag('new') === UNTAGGED)
    await person.click(labels.showAll)
    await person.find(labels.row('1'))
  })

  test('a tag is merged into another one everywhere, and not if that is undone', async () => {
    const merge = async (): Promise<void> => {
      await person.click(labels.tagOf('1', 'houseplant'))
      await person.click(labels.control('Rename tag…'))
      await person.find(labels.heading('Rename the tag “houseplant”'))
      await person.fill(labels.newTag, 'house plant')
      await person.find(labels.text(`${OTHERS} plants have it already: the two become one.`))
      await person.click(labels.control('Merge'))
      await person.lose(labels.row('1'))
    }
    await merge()
    await person.click(labels.control(`Undo the tag of ${HOUSE_PLANTS} plants`))
    await person.find(labels.row('1'))
    expect(withTag('houseplant')).toBe(HOUSE_PLANTS)
    await person.click(labels.showAll)

    await merge()
    await until('the tags', () => withTag('house plant') === HOUSE_PLANTS + OTHERS)
    expect(withTag('houseplant')).toBe(0)
  })

  test('many plants that were deleted are restored', async () => {
    const before = storedPlants(database)
    await person.focus(labels.table)
    await person.press('Control', 'a')
    await person.find(labels.selected(`All ${PLANTS} selected`))
    await person.click(labels.deleteAll)
    await until('the end of the deletion', () => storedPlants(database).length === 0)
    await daemon.create('{"id":7,"name":"theirs"}')
    await person.click(labels.control(`Restore ${PLANTS} plants`))
    await person.find(labels.text(`${PLANTS - 1} plants restored; left out: 1 (the ID is taken)`))

    await person.find(labels.row('1'), labels.row('2'))
    const theirs = { id: 7n, name: 'theirs', tag: null }
    expect(storedPlants(database)).toEqual(before.map((it) => (it.id === 7n ? theirs : it)))
  })

  test('the name of a tag is not left empty or as it is', async () => {
    await person.click(labels.tagOf('1', 'houseplant'))
    await person.click(labels.control('Rename tag…'))
    await person.click(labels.control('Rename'))
    await person.find(labels.text('Type another tag'))
    await person.press('Escape')
    await person.lose(labels.heading('Rename the tag “houseplant”'))
  })

  test('a plant is duplicated under the next id, and shown', async () => {
    await person.focus(labels.table)
    await person.press('Enter')
    await person.click(labels.control('Duplicate'))
    await person.find(labels.heading('Add a plant'))
    expect(await person.textOf(labels.name)).toBe('plant 1')
    await person.until('the next id', async () => (await person.textOf(labels.id)) === '201')
    // Nothing was typed: nothing is asked.
    await person.press('Escape')
    await person.lose(labels.heading('Add a plant'))
    await person.focus(labels.table)
    await person.press('Enter')
    await person.click(labels.control('Duplicate'))
    await person.until('the next id', async () => (await person.textOf(labels.id)) === '201')
    await person.click(labels.saveNew)

    await person.find(labels.cell('201', 'plant 1'), labels.cell('201', 'houseplant'))
    expect(stored(201n)).toMatchObject({ name: 'plant 1', tag: 'houseplant' })
    expect(await evaluate(`document.querySelector('.row.added .id').textContent`)).toBe('201')
    await person.until(
      'the end of the mark',
      async () => (await evaluate(`document.querySelector('.row.added')`)) === null,
    )
  })

  test('plants are added one after another, each with the next id and the tag of the last', async () => {
    await person.focus(labels.table)
    await person.press('n')
    await person.until('the next id', async () => (await person.textOf(labels.id)) === '201')
    await person.fill(labels.name, 'Aloe')
    await person.fill(labels.tag, 'succulent')
    await person.press('Escape')
    await person.click(labels.control('Add and add another'))
    await person.until('the next id', async () => (await person.textOf(labels.id)) === '202')
    await person.isIn('#name')
    await type('Agave')
    await person.press('Enter')
    await person.lose(labels.heading('Add a plant'))

    await person.find(labels.cell('201', 'Aloe'), labels.cell('202', 'Agave'))
    expect(stored(202n)).toMatchObject({ name: 'Agave', tag: 'succulent' })
    expect(await evaluate(`document.querySelector('.row.added .id').textContent`)).toBe('202')
  })
})
