// What a screen reader is told, in each browser: `bun run test:browser`.
import { beforeEach, expect, test } from 'bun:test'
import { inEachBrowser, numbered, ownStore } from './browsers'
import * as labels from './labels'

const { daemon, replacePlants } = ownStore(['--keep-changes', '1d'])

await inEachBrowser((person) => {
  const { evaluate } = person
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
    await replacePlants(numbered(4))
    await person.connect(daemon.url)
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
    await person.press('Control+z')
    await hears(
      'Deleted plant 1; Ctrl+Z undoes it',
      'Undid the deletion of plant 1; Ctrl+Shift+Z does it again',
    )
  })

  test('the last deletion can be undone for as long as the page is open, and the number of them is shown', async () => {
    await person.press('Delete')
    await person.find(labels.control('Undo Ctrl+Z'))
    await person.press('Delete')
    await person.find(labels.control('Undo (2) Ctrl+Z'))
    await person.until('the note is gone', async () => !(await person.sees(labels.undo)))
    await person.click(labels.control('Undo (2) Ctrl+Z'))
    await person.find(labels.row('2'), labels.control('Undo Ctrl+Z'))
    await person.click(labels.control('Undo Ctrl+Z'))
    await person.find(labels.row('1'))
  })

  test('the same sentence twice is spoken twice', async () => {
    await person.press('Control+z')
    await hears('Nothing to undo')
    await person.press('Control+z')
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
    await person.enter('one')
    await hears('Plant 1 was changed')
    await person.press('Enter')
    await person.enter('two')
    await hears('Plant 1 was changed', 'Plant 1 was changed')
    await person.press('Control+z', 'Control+z')
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
    await person.enter('plant 3')
    await says('1 plant found; accents and word order ignored')
    expect((await found()).filter((text) => text.includes('exact'))).toEqual([])
    await person.click(labels.showAll)
    await says('')
    await person.click(labels.tagOf('4', 'fern'))
    await says('1 plant found')
  })

  test('keys on a control of the head change no plant, and go on in the table', async () => {
    await person.focus(labels.sortByName)
    await person.press('Delete', 'F2', 'ArrowDown')
    await person.isIn('[role=grid]')
    expect(await active()).toBe('plant-2')
    await person.press('Delete')
    await hears('Deleted plant 2; Ctrl+Z undoes it')
    await person.find(labels.row('1'), labels.row('3'), labels.row('4'))
  })

  test('rows below a change stay the same elements', async () => {
    await evaluate(`(window.last = document.querySelector('#plant-4'), null)`)
    await person.press('Delete')
    await hears('Deleted plant 1; Ctrl+Z undoes it')
    expect(await evaluate(`window.last === document.querySelector('#plant-4')`)).toBeTrue()
  })

  test('a refused id comes back with the focus and its reason, each time anew', async () => {
    await person.press('n')
    await person.isIn('#name')
    await person.type('Ivy')
    await person.focus(labels.id)
    await person.press('Control+a')
    await person.type('2')
    const reason = 'This id belongs to a different plant'
    const described = `document.getElementById(document.activeElement.getAttribute('aria-describedby'))`
    for (const _ of [1, 2]) {
      await person.press('Enter')
      await person.find(labels.text(reason))
      await person.isIn('#id[aria-invalid=true]')
      expect(await evaluate(`${described}.textContent`)).toBe(reason)
      expect(await evaluate(`${described}.role ?? ${described}.getAttribute('role')`)).toBe('alert')
    }
  })

  test('a refusal in an open form is spoken again when it is repeated', async () => {
    await person.press('n')
    await person.isIn('#name')
    await person.press('Enter')
    await person.find(labels.text('Name is missing'))
    await evaluate(`(window.alert = document.querySelector('#name-note'), null)`)
    await person.press('Enter')
    await person.until('another alert', async () => {
      const isOther = `document.querySelector('#name-note') !== window.alert`
      return (await evaluate(isOther)) === true
    })
    await person.isIn('#name')
  })

  test('a number is spoken again for another search that finds as many', async () => {
    const found = `document.querySelector('.count [role=status] span')`
    const isFound = (text: string) =>
      person.until(text, async () => (await evaluate(`${found}?.textContent`)) === text)
    expect(await evaluate(`getComputedStyle(${found}.parentElement).display !== 'none'`)).toBeTrue()
    await person.focus(labels.search)
    await person.type('plant 3')
    await isFound('1 plant found; accents and word order ignored')
    await evaluate(`(window.found = ${found}, null)`)
    await person.press('Control+a')
    await person.type('plant 4')
    await person.find(labels.row('4'))
    await person.until('another element', async () => {
      return (await evaluate(`${found} !== window.found`)) === true
    })
    await isFound('1 plant found; accents and word order ignored')
  })

  test('an order, and that all plants are shown again, are spoken', async () => {
    await person.click(labels.sortByName)
    await hears('Sorted by name, ascending')
    await person.click(labels.sortByName)
    await hears('Sorted by name, ascending', 'Sorted by name, descending')
    await person.focus(labels.search)
    await person.enter('plant 3')
    await person.click(labels.showAll)
    await hears(
      ...['Sorted by name, ascending', 'Sorted by name, descending'],
      'All plants are shown',
    )
    await person.isIn('#search')
  })

  test('a dialog that is read has the focus, and its name', async () => {
    await person.press('?')
    await person.isIn('dialog[aria-label="Keyboard shortcuts"]')
    await person.press('Escape')
    await person.isIn('[role=grid]')
  })

  test('ticked rows are the selected ones', async () => {
    await person.press('ArrowDown', ' ', 'ArrowDown')
    const selected = `[...document.querySelectorAll('.rows [aria-selected=true] .id')].map((it) => it.textContent).join()`
    await person.until('one selected row', async () => (await evaluate(selected)) === '2')
  })
})
