// Tags in the console: `bun run test:browser`.
import { beforeEach, expect } from 'bun:test'
import { until } from '../../../harness/until'
import { numbered, ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, plants, person, openWith } = ownTasks()

const HOUSE_PLANTS = 120
const OTHERS = 35
const UNTAGGED = 45
const PLANTS = numbered(HOUSE_PLANTS + OTHERS + UNTAGGED).map((plant, at) => ({
  ...plant,
  ...(at < HOUSE_PLANTS + OTHERS ? { tag: at < HOUSE_PLANTS ? 'houseplant' : 'house plant' } : {}),
}))

const withTag = (tag: string | null): number => plants().filter((plant) => plant.tag === tag).length

beforeEach(async () => {
  await openWith(PLANTS)
})

test('plants without a tag are found and tagged', async () => {
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

  await person.find(labels.text('No plant matches this search.'))
  await until('the tags', () => withTag('new') === UNTAGGED)
  await person.click(labels.showAll)
  await person.find(labels.row('1'))
})

test('a new tag name is sent as entered, but not after Escape', async () => {
  const { evaluate } = person
  await person.click(labels.tagOf('1', 'houseplant'))
  await person.find(labels.text(`${HOUSE_PLANTS} plants found`))
  await evaluate(`(() => {
      const { fetch } = window
      const isOpen = new Promise((resolve) => { window.open = resolve })
      window.fetch = (...request) => isOpen.then(() => fetch(...request))
    })() ?? null`)
  for (const name of ['wrong', 'right']) {
    await person.click(labels.control('Rename tag…'))
    await person.isIn('#new-tag')
    await person.enter(name)
    if (name === 'wrong') await person.press('Escape')
    else await person.type('er')
  }
  await evaluate('window.open() ?? null')
  await until('the tags', () => withTag('right') === HOUSE_PLANTS)
})

test('the dialog for a new tag name opens without the network, and loses no letter', async () => {
  await person.click(labels.tagOf('1', 'houseplant'))
  await person.find(labels.control('Rename tag…'), labels.text(`${HOUSE_PLANTS} plants found`))
  process.kill(daemon.pid, 'SIGSTOP')
  try {
    await person.click(labels.control('Rename tag…'))
    await person.type('water birch')
    expect(await person.textOf(labels.newTag)).toBe('water birch')
  } finally {
    process.kill(daemon.pid, 'SIGCONT')
  }
})

test('merging a tag into another changes every plant, and can be undone', async () => {
  const merge = async (): Promise<void> => {
    await person.click(labels.tagOf('1', 'houseplant'))
    await person.click(labels.control('Rename tag…'))
    await person.find(labels.heading('Rename the tag “houseplant”'))
    await person.fill(labels.newTag, 'house plant')
    await person.find(labels.text(`${OTHERS} plants have it already: the two become one.`))
    await person.click(labels.control('Merge'))
    await person.find(labels.tagOf('1', 'house plant'))
    await person.find(labels.text(`${HOUSE_PLANTS + OTHERS} plants found`))
  }
  await merge()
  await person.click(labels.control(`Undo the tag of ${HOUSE_PLANTS} plants`))
  await person.lose(labels.row('1'))
  await until('the tags', () => withTag('houseplant') === HOUSE_PLANTS)
  await person.click(labels.showAll)

  await merge()
  await until('the tags', () => withTag('house plant') === HOUSE_PLANTS + OTHERS)
  expect(withTag('houseplant')).toBe(0)
})
