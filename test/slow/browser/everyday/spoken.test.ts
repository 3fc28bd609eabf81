// The announcements to screen readers: `bun run test:browser`.
import { beforeEach, expect } from 'bun:test'
import { numbered, ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, person, openWith } = ownTasks(['--keep-changes', '1d'])

const { evaluate } = person
/** Waits until exactly these sentences were added to a live region since the last call. */
const hears = (...sentences: readonly string[]) => {
  const wanted = JSON.stringify(JSON.stringify(sentences))
  return person.untilEqual(`JSON.stringify(spoken) === ${wanted} && spoken.splice(0) && true`, true)
}
const ACTIVE = `document.querySelector('[role=grid]').getAttribute('aria-activedescendant')`

beforeEach(async () => {
  await openWith(numbered(4))
  await person.find(labels.text('Updates live'))
  await evaluate(`(() => {
      window.spoken = []
      const region = document.querySelector('.said [role=status]')
      new MutationObserver((changes) => {
        for (const { addedNodes } of changes) for (const node of addedNodes) window.spoken.push(node.textContent)
      }).observe(region, { childList: true })
    })() ?? null`)
  await person.focus(labels.table)
})

test('a deletion and its undo are each spoken once, with the key to reverse them', async () => {
  await person.press('Delete')
  await hears('Deleted plant 1; Ctrl+Z undoes it')
  await person.press('Control+z')
  await hears('Undid the deletion of plant 1; Ctrl+Shift+Z does it again')
})

test('deletions can be undone while the page is open, and their number is shown', async () => {
  await person.press('Delete')
  await person.find(labels.control('Undo Ctrl+Z'))
  await person.press('Delete')
  await person.find(labels.control('Undo (2) Ctrl+Z'))
  await person.lose(labels.undo)
  await person.click(labels.control('Undo (2) Ctrl+Z'))
  await person.find(labels.row('2'), labels.control('Undo Ctrl+Z'))
  await person.click(labels.control('Undo Ctrl+Z'))
  await person.find(labels.row('1'))
})

test('the same sentence twice is spoken twice', async () => {
  await person.press('Control+z')
  await hears('Nothing to undo')
  await person.press('Control+z')
  await hears('Nothing to undo')
})

test('the next row becomes active after a deletion, and a change to it by others is spoken', async () => {
  await person.press('ArrowDown')
  expect(await evaluate(ACTIVE)).toBe('plant-2')
  await person.press('Delete')
  await person.untilEqual(ACTIVE, 'plant-3')
  await hears('Deleted plant 2; Ctrl+Z undoes it')
  await daemon.fetch('/plants/3', { method: 'PATCH', json: { name: 'theirs' } })
  await hears('Plant 3 was changed elsewhere: theirs, no tag')
})

test("the page's own changes are not spoken as changes by others", async () => {
  await person.press('ArrowRight')
  await person.enter('one')
  await hears('Plant 1 was changed')
  await person.press('Enter')
  await person.enter('two')
  await hears('Plant 1 was changed')
  await person.press('Control+z', 'Control+z')
  const undone = 'Undid the name of plant 1; Ctrl+Shift+Z does it again'
  await hears(undone, undone)
  // A change by others, after the echoes of the page's own changes.
  await daemon.fetch('/plants/1', { method: 'PATCH', json: { name: 'one' } })
  await hears('Plant 1 was changed elsewhere: one, no tag')
})

test('the number of plants found by a search or a tag is spoken once it is known', async () => {
  await daemon.fetch('/plants/4', { method: 'PATCH', json: { tag: 'fern' } })
  await person.find(labels.tagOf('4', 'fern'))
  await evaluate(`(() => {
      window.found = []
      const region = document.querySelector('.count [role=status]')
      const keep = () => window.found.push(region.textContent)
      new MutationObserver(keep).observe(region, { subtree: true, childList: true, characterData: true })
    })() ?? null`)
  const says = (sentence: string) => person.untilEqual('found.at(-1)', sentence)
  await person.focus(labels.search)
  await person.enter('plant 3')
  await says('1 plant found; accents and word order ignored')
  expect(await evaluate(`found.filter((text) => text.includes('exact'))`)).toEqual([])
  await person.click(labels.showAll)
  await says('')
  await person.click(labels.tagOf('4', 'fern'))
  await says('1 plant found')
})

test('keys on a control of the head change no plant, and continue in the table', async () => {
  await person.focus(labels.sortByName)
  await person.press('Delete', 'F2', 'ArrowDown')
  await person.isIn('[role=grid]')
  expect(await evaluate(ACTIVE)).toBe('plant-2')
  await person.press('Delete')
  await hears('Deleted plant 2; Ctrl+Z undoes it')
  await person.find(labels.row('1'), labels.row('3'), labels.row('4'))
})

test('the elements of rows below a change stay the same', async () => {
  await evaluate(`(window.last = document.querySelector('#plant-4'), null)`)
  await person.press('Delete')
  await hears('Deleted plant 1; Ctrl+Z undoes it')
  expect(await evaluate(`window.last === document.querySelector('#plant-4')`)).toBeTrue()
})

test('a refused id returns the focus and speaks its reason each time', async () => {
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

test('a repeated refusal in an open form is spoken again', async () => {
  await person.press('n')
  await person.isIn('#name')
  await person.press('Enter')
  await person.find(labels.text('Name is missing'))
  await evaluate(`(window.alert = document.querySelector('#name-note'), null)`)
  await person.press('Enter')
  await person.untilEqual(`document.querySelector('#name-note') !== window.alert`, true)
  await person.isIn('#name')
})

test('the number found is spoken again if another search finds as many', async () => {
  const found = `document.querySelector('.count [role=status] span')`
  const isFound = (text: string) => person.untilEqual(`${found}?.textContent`, text)
  expect(await evaluate(`getComputedStyle(${found}.parentElement).display !== 'none'`)).toBeTrue()
  await person.focus(labels.search)
  await person.type('plant 3')
  await isFound('1 plant found; accents and word order ignored')
  await evaluate(`(window.found = ${found}, null)`)
  await person.press('Control+a')
  await person.type('plant 4')
  await person.find(labels.row('4'))
  await person.untilEqual(`${found} !== window.found`, true)
  await isFound('1 plant found; accents and word order ignored')
})

test('an order, and the return to all plants, are spoken', async () => {
  await person.click(labels.sortByName)
  await hears('Sorted by name, ascending')
  await person.click(labels.sortByName)
  await hears('Sorted by name, descending')
  await person.focus(labels.search)
  await person.enter('plant 3')
  await person.click(labels.showAll)
  await hears('All plants are shown')
  await person.isIn('#search')
})

test('a dialog has the focus and a name', async () => {
  await person.press('?')
  await person.isIn('dialog[aria-label="Keyboard shortcuts"]')
  await person.press('Escape')
  await person.isIn('[role=grid]')
})

test('ticked rows are the selected ones', async () => {
  await person.press('ArrowDown', ' ', 'ArrowDown')
  const selected = `[...document.querySelectorAll('.rows [aria-selected=true] .id')].map((it) => it.textContent).join()`
  await person.untilEqual(selected, '2')
})
