// What a screen reader is told, in each browser: `bun run test:browser`.
import { beforeEach, expect, test } from 'bun:test'
import { TOKEN } from '../../../harness/daemon'
import { ownDaemon } from '../../../harness/own-daemon'
import { ownPages } from '../../../harness/own-pages'
import { inEachBrowser } from './browsers'
import * as labels from './labels'

ownPages()
const { daemon, removePlants } = ownDaemon({ args: ['--keep-changes', '1d'] })

await inEachBrowser((person, browser) => {
  const evaluate = (expression: string) => browser().driver.evaluate(expression)
  /** The sentences that were added to a live region, each time anew. */
  const spoken = async (): Promise<readonly string[]> =>
    (await evaluate('window.spoken')) as readonly string[]
  const hears = (...sentences: readonly string[]) =>
    person.until(`hearing ${sentences.join()}`, async () =>
      Bun.deepEquals(await spoken(), sentences),
    )
  const active = () =>
    evaluate(`document.querySelector('[role=grid]').getAttribute('aria-activedescendant')`)

  beforeEach(async () => {
    await removePlants()
    for (const id of [1, 2, 3, 4]) await daemon.create(`{"id":${id},"name":"plant ${id}"}`)
    await browser().driver.open(`${daemon.url}/#token=${TOKEN}`)
    await person.find(labels.row('4'), labels.text('Updates live'))
    await evaluate(`(() => {
      window.spoken = []
      const region = document.querySelector('.said [role=status]')
      new MutationObserver((changes) => {
        for (const { addedNodes } of changes) for (const node of addedNodes) window.spoken.push(node.textContent)
      }).observe(region, { childList: true })
    })() ?? null`)
    await person.focus(labels.table)
  })

  test('a deletion and its undo are spoken once, with the way to undo it', async () => {
    await person.press('Delete')
    await hears('Deleted plant 1; Ctrl+Z undoes it')
    await person.press('Control', 'z')
    await hears(
      'Deleted plant 1; Ctrl+Z undoes it',
      'Undid the deletion of plant 1; Ctrl+Shift+Z does it again',
    )
  })

  test('a tag of many plants is spoken once, with the way to undo it', async () => {
    await person.press('Control', 'a')
    await person.find(labels.selected('All 4 selected'))
    await person.fill(labels.tagForAll, 'fern')
    await person.press('Enter')
    await hears('Set the tag “fern” on 4 plants; Ctrl+Z undoes it')
  })

  test('the same sentence twice is spoken twice', async () => {
    await person.press('Control', 'z')
    await hears('Nothing to undo')
    await person.press('Control', 'z')
    await hears('Nothing to undo', 'Nothing to undo')
  })

  test('the active row is another one once its plant is gone, and its change by others is spoken', async () => {
    await person.press('ArrowDown')
    expect(await active()).toBe('plant-2')
    await person.press('Delete')
    await person.until('the next plant', async () => (await active()) === 'plant-3')
    await hears('Deleted plant 2; Ctrl+Z undoes it')
    await evaluate('(window.spoken = [], null)')
    await daemon.fetch('/plants/3', { method: 'PATCH', json: { name: 'theirs' } })
    await hears('Plant 3 was changed elsewhere: theirs, no tag')
  })

  test('no change of the page itself is spoken as one by someone else', async () => {
    await person.press('ArrowRight')
    await person.type('one')
    await person.press('Enter')
    await hears('Plant 1 was changed')
    await person.press('Enter')
    await person.type('two')
    await person.press('Enter')
    await hears('Plant 1 was changed', 'Plant 1 was changed')
    await person.press('Control', 'z')
    await person.press('Control', 'z')
    const undone = 'Undid the name of plant 1; Ctrl+Shift+Z does it again'
    await hears('Plant 1 was changed', 'Plant 1 was changed', undone, undone)
    // After the echoes of its own changes.
    await daemon.fetch('/plants/1', { method: 'PATCH', json: { name: 'one' } })
    await hears(
      ...['Plant 1 was changed', 'Plant 1 was changed', undone, undone],
      'Plant 1 was changed elsewhere: one, no tag',
    )
  })

  test('what a search or a tag finds is spoken, and no number before it is known', async () => {
    await daemon.fetch('/plants/4', { method: 'PATCH', json: { tag: 'fern' } })
    await person.find(labels.tagOf('4', 'fern'))
    await evaluate(`(() => {
      window.found = []
      const region = document.querySelector('.count [role=status]')
      const keep = () => window.found.push(region.textContent)
      new MutationObserver(keep).observe(region, { subtree: true, childList: true, characterData: true })
    })() ?? null`)
    const found = async () => (await evaluate('window.found')) as readonly string[]
    const says = (sentence: string) =>
      person.until(`hearing ${sentence}`, async () => (await found()).at(-1) === sentence)
    await person.focus(labels.search)
    await person.type('plant 3')
    await person.press('Enter')
    await says('1 plant found; accents and word order ignored')
    expect((await found()).filter((text) => text.includes('exact'))).toEqual([])
    await person.click(labels.showAll)
    await says('')
    await person.click(labels.tagOf('4', 'fern'))
    await says('1 plant found')
  })

  test('ticked rows are the selected ones', async () => {
    await person.press('ArrowDown')
    await person.press(' ')
    await person.press('ArrowDown')
    const selected = `[...document.querySelectorAll('.rows [aria-selected=true] .id')].map((it) => it.textContent).join()`
    await person.until('one selected row', async () => (await evaluate(selected)) === '2')
  })
})
