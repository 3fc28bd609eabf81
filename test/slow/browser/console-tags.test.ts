// Tag suggestions and the tag menu in the console, in a real Chromium: `bun run test:browser`.
import { beforeAll, expect, test } from 'bun:test'
import { ownConsole } from './console-page'

const { daemon, stored, open } = ownConsole()
const TAGS = ['fern', 'aroid', 'Aroid, rare', 'aroid', 'succulent', 'aroid', 'Aroid, rare']
beforeAll(async () => {
  for (const [id, tag] of TAGS.entries()) {
    await daemon.create(JSON.stringify({ id, name: `plant ${id}`, tag }))
  }
  await daemon.create(JSON.stringify({ id: 100, name: 'two lines', tag: 'first\nsecond' }))
})

async function openTags() {
  const console = await open()
  return {
    ...console,
    tag: console.page.getByRole('combobox', { name: 'Tag', exact: true }),
    options: () => console.page.getByRole('option').allTextContents(),
    list: console.page.getByRole('listbox', { name: 'Tags' }),
  }
}

test('a key or a click picks a tag: Enter accepts it and then saves, Escape closes only the list', async () => {
  await using console = await openTags()
  const { page } = console
  await console.button('Edit plant 1').click()
  await console.tag.fill('ar')
  await page.keyboard.press('Escape')
  await console.list.waitFor({ state: 'detached' })
  expect(await page.getByText('Discard what you typed?').count()).toBe(0)
  await page.keyboard.press('ArrowDown')
  await console.list.waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  expect(await console.barriers()).toEqual([])
  const active = await console.tag.getAttribute('aria-activedescendant')
  expect(await page.locator(`#${active}`).textContent()).toBe('Aroid, rare 2')
  await page.keyboard.press('Enter')
  expect(await console.tag.inputValue()).toBe('Aroid, rare')
  await console.tag.fill('fer')
  await page.getByRole('option', { name: 'fern 1' }).click()
  expect(await console.tag.inputValue()).toBe('fern')
  expect(stored(1n)?.tag).toBe('aroid')
  await page.keyboard.press('Enter')
  await page.getByText('Plant 1 was changed').waitFor()
  expect(stored(1n)?.tag).toBe('fern')
  await console.isClean()
})

test('the tag menu has a search field from twenty tags on', async () => {
  await using console = await openTags()
  const { page } = console
  const menu = console.button('Tags')
  const field = page.getByRole('searchbox', { name: 'Find a tag' })
  const tags = page.getByRole('list', { name: 'Tags' }).getByRole('button')
  await console.row(6).waitFor()
  await menu.click()
  await tags.filter({ hasText: /^aroid / }).waitFor()
  expect(await field.count()).toBe(0)
  const ids = Array.from({ length: 20 }, (_, at) => 200 + at)
  for (const id of ids) await daemon.create(`{"id":${id},"name":"x","tag":"kind ${id}"}`)
  await page.keyboard.press('Escape')
  await console.button('Reload').click()
  await console.row(205).waitFor()

  await menu.click()
  await tags.filter({ hasText: 'kind 219 1' }).waitFor()
  expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe('Find a tag')
  await page.keyboard.type('KIND 21')
  expect(await tags.count()).toBe(10)
  expect(await console.barriers()).toEqual([])
  await field.fill('nothing')
  await page.getByText('No tag has this in it.').waitFor()
  await field.fill('kind 213')
  await page.keyboard.press('Enter')
  await page.getByText('1 plant found').waitFor()
  expect(await console.rows()).toEqual([['213', 'x', 'kind 213']])
  for (const id of ids) await daemon.fetch(`/plants/${id}`, { method: 'DELETE' })
  await console.isClean()
})

test('renaming a tag that no plant has is refused with the reason', async () => {
  await using console = await openTags()
  const { page } = console
  await console.search('tag:missing')
  await console.button('Rename tag…').click()
  await console.field('New name').fill('succulent')
  await page.getByText('1 plant has it already: the two become one.').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('No plant has this tag', { exact: true }).waitFor()
  expect(await page.getByRole('region', { name: 'Latest changes' }).count()).toBe(0)
  await console.isClean()
})

test('a tag of several lines keeps its lines', async () => {
  await using console = await openTags()
  await console.button('Edit plant 100').click()
  expect(await console.field('Tag').inputValue()).toBe('first\nsecond')
  await console.field('Name').fill('still two lines')
  await console.button('Save').click()
  await console.page.getByText('Plant 100 was changed').waitFor()
  expect(stored(100n)).toEqual({ id: 100n, name: 'still two lines', tag: 'first\nsecond' })
  await console.isClean()
})

test('the dialog that renames a tag and a typed search pass axe', async () => {
  await using console = await openTags()
  const { page } = console
  await console.field('Search').fill('plant')
  await page.getByText(/^\d+ plants found; accents and word order ignored$/).waitFor()
  expect(await console.barriers()).toEqual([])
  await console.field('Search').fill('no plant has these words')
  await page.getByText('No plant matches this search.').waitFor()
  expect(await console.barriers()).toEqual([])
  await console.search('tag:succulent')
  await console.button('Rename tag…').click()
  await page.getByRole('dialog', { name: 'Rename tag succulent' }).waitFor()
  await console.field('New name').fill('aroid')
  await page.getByText(/^\d+ plants have it already: the two become one\.$/).waitFor()
  expect(await console.barriers()).toEqual([])
  await console.isClean()
})
