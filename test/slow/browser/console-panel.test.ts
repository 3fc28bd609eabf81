// The panel of one plant beside the console's table, in a real Chromium: `bun run test:browser`.
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { until } from '../../harness/until'
import { connect, MIN, ownConsole, PHONE } from './console-page'

const { daemon, stored, createToken, open } = ownConsole(['--keep-changes', '1d'])
beforeAll(async () => {
  for (let id = 1; id <= 30; id++) {
    await daemon.create(JSON.stringify({ id, name: `plant ${id}`, tag: 'green' }))
  }
  await daemon.create(`{"id":${MIN},"name":"The first of all"}`)
})

const panel = (page: Page, id: number | string) =>
  page.getByRole('dialog', { name: `Edit plant ${id}`, exact: true })
const plantPage = (page: Page, id: number | string) =>
  page.getByRole('dialog', { name: `Plant ${id}`, exact: true })
const plantInAddress = (page: Page) => new URL(page.url()).searchParams.get('plant')

test('the panel is beside the table, and shows the next clicked row', async () => {
  await using console = await open()
  const { page, grid } = console
  await console.button('Edit plant 4').click()
  await panel(page, 4).waitFor()
  const [left, right] = await Promise.all([grid.boundingBox(), panel(page, 4).boundingBox()])
  expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThan(right?.x ?? 0)
  expect(await console.row(4).getAttribute('aria-current')).toBe('true')
  expect(await console.barriers()).toEqual([])

  await console.row(6).click()
  await plantPage(page, 6).getByRole('heading', { name: 'plant 6' }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(1)
  await grid.focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('F2')
  await panel(page, 7).waitFor()
  expect(await console.field('Name').inputValue()).toBe('plant 7')
  await console.isClean()
})

test('Next and Previous follow the order of the table and keep the focus', async () => {
  await using console = await open()
  const { page } = console
  await console.button('Edit plant 4').click()
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  await console.button('Next plant').click()
  await panel(page, 5).waitFor()
  await page.keyboard.press('Enter')
  await panel(page, 6).waitFor()
  expect(await focused()).toBe('Next plant')
  await console.button('Previous plant').click()
  await panel(page, 5).waitFor()
  expect(await console.row(5).getAttribute('data-active')).toBe('')

  await console.search(MIN)
  await console.row(MIN).waitFor()
  await console.button(`Edit plant ${MIN}`).click()
  await panel(page, MIN).waitFor()
  for (const name of ['Previous plant', 'Next plant']) {
    expect(await console.button(name).getAttribute('aria-disabled')).toBe('true')
  }
  await console.isClean()
})

const put = (id: number, name: string, tag: string) =>
  daemon.fetch(`/plants/${id}`, { method: 'PUT', json: { name, tag } })
const holds = (page: Page, label: string, text: string) =>
  page.waitForFunction(
    ([name, wanted]) => document.querySelector<HTMLInputElement>(`#${name}`)?.value === wanted,
    [label.toLowerCase(), text],
  )

test('the panel follows changes by others, and keeps typed text', async () => {
  await using console = await open()
  const { page } = console
  await console.row(21).click()
  await plantPage(page, 21).getByText('Created as plant 21').waitFor()

  await put(21, 'plant 21', 'blue')
  await page.getByText('Plant 21: tag changed elsewhere').waitFor()
  await plantPage(page, 21).getByText('tag: green → blue').waitFor()
  await plantPage(page, 21).getByRole('button', { name: 'blue' }).waitFor()

  await console.button('Edit').click()
  await holds(page, 'Tag', 'blue')
  await console.field('Name').fill('plant 21, mine')
  await put(21, 'plant 21', 'red')
  await holds(page, 'Tag', 'red')
  expect(await console.field('Name').inputValue()).toBe('plant 21, mine')
  await console.button('Save').click()
  await plantPage(page, 21).getByRole('heading', { name: 'plant 21, mine' }).waitFor()
  await until('the change', () => stored(21n)?.name === 'plant 21, mine')
  expect(stored(21n)?.tag).toBe('red')
  await console.isClean()
})

test('the panel of a plant deleted elsewhere has no Edit, and mentions no typed text', async () => {
  await daemon.create('{"id":101,"name":"gone soon"}')
  await using console = await open({ path: '/?plant=101' })
  const { page } = console
  await plantPage(page, 101).getByRole('button', { name: 'Edit' }).waitFor()
  await daemon.fetch('/plants/101', { method: 'DELETE' })
  await page.getByText('This plant was deleted elsewhere.', { exact: true }).waitFor()

  expect(
    await plantPage(page, 101)
      .getByRole('button', { name: /^(Edit|Delete)$/ })
      .count(),
  ).toBe(0)
  await console.isClean()
})

test('the focus moves into the panel, and back to where it was opened', async () => {
  await using console = await open()
  const { page, grid } = console
  const focused = () => page.evaluate(() => document.activeElement?.id)
  await console.row(3).click()
  await plantPage(page, 3).waitFor()
  await page.keyboard.press('Escape')
  await plantPage(page, 3).waitFor({ state: 'detached' })
  await grid.focus()
  await page.keyboard.press('F2')
  await panel(page, 3).waitFor()
  expect(await focused()).toBe('name')
  await page.keyboard.press('Escape')
  await panel(page, 3).waitFor({ state: 'detached' })
  expect(await grid.evaluate((element) => element === document.activeElement)).toBeTrue()

  await page.keyboard.press('Enter')
  await plantPage(page, 3).waitFor()
  await grid.focus()
  await page.keyboard.press('Escape')
  await plantPage(page, 3).waitFor({ state: 'detached' })
  await console.isClean()
})

test('the panel asks about typed text before it shows another plant', async () => {
  await using console = await open()
  const { page } = console
  await console.button('Edit plant 4').click()
  await console.field('Name').fill('half typed')
  for (const act of [
    () => console.row(8).click(),
    () => console.button('Next plant').click(),
    () => console.button('Add plant').click(),
    () => console.button('Close').click(),
    () => page.goBack(),
  ]) {
    await act()
    await page.getByText('Discard what you typed?').waitFor()
    expect(await console.barriers()).toEqual([])
    await console.button('Keep editing').click()
    expect(await console.field('Name').inputValue()).toBe('half typed')
    expect(plantInAddress(page)).toBe('4')
  }
  await console.row(8).click()
  await console.button('Discard').click()
  await plantPage(page, 8).waitFor()
  expect(stored(4n)?.name).toBe('plant 4')
  await console.isClean()
})

test.each([true, false])(
  'the id and the JSON are copied exactly, with TLS: %p',
  async (isSecure) => {
    await using console = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = console
    if (!isSecure) {
      await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', {}))
      await page.reload()
      await connect(page)
    }
    await console.row(MIN).click()
    const pasted = async () => {
      await console.field('Search').fill('')
      await console.field('Search').focus()
      await page.keyboard.press('Control+v')
      return console.field('Search').inputValue()
    }
    const copied = async (label: string) => {
      await page.getByRole('button', { name: 'Copy', exact: false }).first().click()
      await console.button(label).click()
      await console.button('Copied').waitFor()
      await console.button(label).waitFor()
      // Escape closes only the menu.
      await page.keyboard.press('Escape')
      await plantPage(page, MIN).waitFor()
      return (await pasted()).trim()
    }
    expect(await copied('Copy ID')).toBe(MIN)
    expect(await copied('Copy JSON')).toBe(`{"id":${MIN},"name":"The first of all"}`)
    const command = await copied('Copy as curl')
    const { stdout } = Bun.spawnSync(['sh', '-c', `${command} -s`], {
      env: { PATH: Bun.env.PATH, TOKEN: daemon.token },
    })
    expect(stdout.toString()).toBe(`{"id":${MIN},"name":"The first of all"}`)
    await console.isClean()
  },
)

describe('the URL', () => {
  test('names the open plant: for back, forward, a reload and a link', async () => {
    await using console = await open()
    const { page } = console
    await console.search('plant')
    await page.getByText('30 plants found').waitFor()
    await console.row(4).click()
    await plantPage(page, 4).waitFor()
    expect(plantInAddress(page)).toBe('4')
    await console.button('Next plant').click()
    await plantPage(page, 5).waitFor()

    await page.goBack()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.toString()).toBe('q=plant')
    await page.goForward()
    await plantPage(page, 5).waitFor()
    await page.reload()
    await connect(page)
    await plantPage(page, 5).waitFor()
    await console.button('Close').click()
    expect(plantInAddress(page)).toBeNull()
    await page.getByText('30 plants found').waitFor()
    await console.isClean()
  })

  test('is corrected if it names a missing plant, and the page says so', async () => {
    await using console = await open({ path: '/?plant=404' })
    const { page } = console
    await page.getByText('Plant 404: no plant has this id').waitFor()
    expect(plantInAddress(page)).toBeNull()
    await console.isClean()
  })
})

test('with a read-only token the panel shows the plant and its history, but no way to change it', async () => {
  await using console = await open({ token: await createToken('reader', '--scope', 'read') })
  const { page } = console
  await console.row(MIN).click()
  await page.getByRole('listitem').filter({ hasText: 'Created as The first of all' }).waitFor()
  const names = await page.getByRole('dialog').getByRole('button').allTextContents()
  expect(names).toEqual(['↑', '↓', '×', 'Copy ▾'])
  expect(await console.barriers()).toEqual([])
  await console.isClean()
})

test('on a phone ids are whole, a tap opens the plant over the page, and Back closes it', async () => {
  await using console = await open(PHONE)
  const { page } = console
  const id = console.row(MIN).locator('.id')
  expect(await id.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBeTrue()
  await console.row(MIN).locator('.name').tap()
  await plantPage(page, MIN).waitFor()
  const whole = { x: 0, y: 0, width: 390, height: 844 }
  expect(await plantPage(page, MIN).boundingBox()).toEqual(whole)
  expect(await console.barriers()).toEqual([])
  await page.goBack()
  await plantPage(page, MIN).waitFor({ state: 'detached' })
  await console.row(MIN).waitFor()

  // In landscape, the page has room for both.
  await console.row(MIN).locator('.name').tap()
  await plantPage(page, MIN).waitFor()
  await page.setViewportSize({ width: 844, height: 390 })
  await page.waitForFunction(() => document.querySelector('dialog[open]:not(:modal)'))
  await console.isClean()
})
