// Bulk actions in the console, in a real Chromium: `bun run test:browser`.
import { expect, test } from 'bun:test'
import { ownConsole } from './console-page'

const { daemon, open } = ownConsole()
let next = 1

/** Creates plants for one test, and opens the console with them. */
async function openWith(count: number, width = 1280) {
  const first = next
  next += count + 10
  // The table is filtered by this name.
  const name = `of ${first}.`
  const plants = Array.from({ length: count }, (_, at) => ({ id: first + at, name, tag: 'old' }))
  expect((await daemon.fetch('/plants/batch', { json: { plants } })).status).toBe(200)
  const console = await open({
    path: `/?q=${encodeURIComponent(name)}`,
    viewport: { width, height: 900 },
  })
  await console.row(first).waitFor()
  const box = (id: number) =>
    console.page.getByRole('checkbox', { name: `Select ${id}`, exact: true })
  return {
    ...console,
    first,
    box,
    bar: console.page.getByRole('region', { name: 'Selected plants' }),
  }
}

test('plants stay selected if the store refuses to delete them; the reason is shown once', async () => {
  await using console = await openWith(20)
  const { page, first, bar, box } = console
  await box(first).check()
  await box(first + 19).click({ modifiers: ['Shift'] })
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
  await console.row(first).waitFor()
  expect((await console.complaints()).filter((line) => !line.includes('507'))).toEqual([])
})

test('a range whose start another user deleted ticks only its end, and no message is shown', async () => {
  await using console = await openWith(4)
  const { page, first, bar, box } = console
  await box(first).check()
  const said = await page.locator('.said').textContent()
  await daemon.fetch(`/plants/${first}`, { method: 'DELETE' })
  await console.button('Reload').click()
  await console.row(first).waitFor({ state: 'detached' })
  await box(first + 2).click({ modifiers: ['Shift'] })
  await bar.getByText('2 selected').waitFor()
  expect(await page.locator('.said').textContent()).toBe(said)
  expect(await box(first + 2).isChecked()).toBeTrue()
  expect(await box(first + 1).isChecked()).toBeFalse()
  await console.isClean()
})

test('Space ticks a row, and Escape or a search unticks all', async () => {
  await using console = await openWith(3)
  const { page, first, bar, grid, box } = console
  await grid.focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await bar.getByText('2 selected').waitFor()
  await page.keyboard.press('Space')
  await bar.getByText('1 selected').waitFor()
  expect(await box(first).isChecked()).toBeTrue()
  await page.keyboard.press('Escape')
  await bar.waitFor({ state: 'detached' })
  await page.keyboard.press('Space')
  await bar.waitFor()
  await console.search('tag:old')
  await bar.waitFor({ state: 'detached' })
  await console.isClean()
})

test('on a phone the bulk actions stay within reach at the bottom', async () => {
  await using console = await openWith(30, 390)
  await console.box(console.first).check()
  const bar = await console.bar.boundingBox()
  expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBeLessThanOrEqual(900)
  expect(await console.barriers()).toEqual([])
  await console.isClean()
})
