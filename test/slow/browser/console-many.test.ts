// Actions on many plants at once in the console, in a real Chromium: `bun run test:browser`.
import { describe, expect, test } from 'bun:test'
import { ownDaemon } from '../../harness/own-daemon'
import { openConsole, ownBrowser } from './console-page'

const { daemon } = ownDaemon()
const browser = ownBrowser()
let next = 1

/** Creates plants for one test, and opens the console with them. */
async function openWith(count: number, width = 1280) {
  const first = next
  next += count + 10
  const ids = Array.from({ length: count }, (_, at) => first + at)
  // The name is what the table is limited to.
  const name = `of ${first}.`
  const plants = ids.map((id) => ({ id, name, tag: 'old' }))
  expect((await daemon.fetch('/plants/batch', { json: { plants } })).status).toBe(200)
  const console = await openConsole(browser, `${daemon.url}/?q=${encodeURIComponent(name)}`, {
    viewport: { width, height: 900 },
  })
  await console.row(first).waitFor()
  const box = (id: number) =>
    console.page.getByRole('checkbox', { name: `Select ${id}`, exact: true })
  return {
    ...console,
    ids,
    box,
    async tick(...wanted: readonly number[]): Promise<void> {
      for (const id of wanted) await box(id).check()
    },
    bar: console.page.getByRole('region', { name: 'Selected plants' }),
    change: (id: number, name: string) =>
      daemon.fetch(`/plants/${id}`, { method: 'PATCH', json: { name } }),
  }
}

const at = (ids: readonly number[], index: number): number => ids[index] ?? Number.NaN

describe('many plants', () => {
  test('stay selected if the store refuses to delete them; it is asked once, and the reason is shown', async () => {
    await using console = await openWith(20)
    const { page, ids, bar, box } = console
    await box(at(ids, 0)).check()
    await box(at(ids, 19)).click({ modifiers: ['Shift'] })
    let asked = 0
    await page.route('**/plants/batch-delete', (route) => {
      asked += 1
      return route.fulfill({ status: 507, json: { error: 50701, message: 'the disk is full' } })
    })
    await bar.getByRole('button', { name: 'Delete' }).click()
    await page
      .getByText(/^Nothing was changed; left out: .* and 17 more \(the disk is full\)/)
      .waitFor()
    expect(asked).toBe(1)
    await bar.getByText('20 selected').waitFor()
    await console.row(at(ids, 0)).waitFor()
    expect((await console.complaints()).filter((line) => !line.includes('507'))).toEqual([])
  })
})

describe('changes by another user meanwhile', () => {
  test('leave the end of a deleted range to be ticked, and show no message', async () => {
    await using console = await openWith(4)
    const { page, ids, bar, box } = console
    await console.tick(at(ids, 0))
    const said = await page.locator('.said').textContent()
    await daemon.fetch(`/plants/${at(ids, 0)}`, { method: 'DELETE' })
    await console.button('Reload').click()
    await console.row(at(ids, 0)).waitFor({ state: 'detached' })
    await box(at(ids, 2)).click({ modifiers: ['Shift'] })
    await bar.getByText('2 selected').waitFor()
    expect(await page.locator('.said').textContent()).toBe(said)
    expect(await box(at(ids, 2)).isChecked()).toBeTrue()
    expect(await box(at(ids, 1)).isChecked()).toBeFalse()
    await console.isClean()
  })
})

test('the keyboard ticks with Space, and Escape or a search unticks', async () => {
  await using console = await openWith(3)
  const { page, ids, bar, grid, box } = console
  await grid.focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await bar.getByText('2 selected').waitFor()
  await page.keyboard.press('Space')
  await bar.getByText('1 selected').waitFor()
  expect(await box(at(ids, 0)).isChecked()).toBeTrue()
  await page.keyboard.press('Escape')
  await bar.waitFor({ state: 'detached' })
  await page.keyboard.press('Space')
  await bar.waitFor()
  await console.search('tag:old')
  await bar.waitFor({ state: 'detached' })
  await console.isClean()
})

test('on a phone the actions for many plants stay in reach at the bottom', async () => {
  await using console = await openWith(30, 390)
  await console.tick(at(console.ids, 0))
  const bar = await console.bar.boundingBox()
  expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBeLessThanOrEqual(900)
  expect(await console.barriers()).toEqual([])
  await console.isClean()
})
