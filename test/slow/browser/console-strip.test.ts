// The console's status of the store, in a real Chromium: `bun run test:browser`.
import { beforeAll, expect, test } from 'bun:test'
import { connect, ownConsole } from './console-page'

const { daemon, open } = ownConsole()

beforeAll(async () => {
  for (let id = 1; id <= 5; id++) await daemon.create(`{"id":${id},"name":"plant ${id}"}`)
})

test('one line shows the number of plants, and expands into details for operators', async () => {
  await using console = await open()
  const strip = console.page.locator('.status')
  const fact = (name: string) =>
    strip
      .locator('div', { has: console.page.getByText(name, { exact: true }) })
      .getByRole('definition')

  await strip.getByText('5 plants', { exact: true }).waitFor()
  expect(await strip.locator('dl').isVisible()).toBeFalse()
  await strip.getByText('Status').click()
  expect(await fact('Database').textContent()).toBe('plants.db')
  expect(await fact('Last backup').textContent()).toBe('none scheduled')
  expect(await fact('Change log').textContent()).toBe('–')
  const since = await fact('Up since').getByRole('time').getAttribute('datetime')
  expect(Math.abs(Date.parse(String(since)) - Date.now())).toBeLessThan(600_000)

  for (const id of [6, 7]) await daemon.create(`{"id":${id},"name":"later"}`)
  await strip.getByText('7 plants', { exact: true }).waitFor()
  // Each fact stays on one line.
  await console.page.setViewportSize({ width: 768, height: 900 })
  const figures = strip.getByRole('definition')
  const heights = await figures.evaluateAll((all) => all.map((element) => element.clientHeight))
  expect(new Set(heights).size).toBe(1)
  await daemon.fetch('/plants/6', { method: 'DELETE' })
  await strip.getByText('6 plants', { exact: true }).waitFor()
  await console.isClean()
})

test('a list that is older than a minute says so, and can be read again', async () => {
  await using console = await open()
  const { page } = console
  await page.clock.install()
  await page.reload()
  await connect(page)
  await console.row(1).waitFor()
  await daemon.fetch('/plants/1', { method: 'PUT', json: { name: 'renamed' } })

  await page.clock.runFor(130_000)
  await page.getByText('2 minutes old').waitFor()
  await console.button('Reload').click()

  await console.row(1).getByText('renamed').waitFor()
  await page.getByText('2 minutes old').waitFor({ state: 'detached' })
  expect(await console.barriers()).toEqual([])
})

test('a failed read is retried at once on request', async () => {
  await using console = await open()
  const { page } = console
  await console.row(2).waitFor()
  const message = 'unexpected error; see the log'
  await page.route('**/plants?*', (route) =>
    route.fulfill({ status: 500, json: { error: 50001, message } }),
  )
  await console.search('plant')
  await page.getByRole('alert').getByText(message).waitFor()
  const asked = () => console.requests().filter((url) => url.includes('/plants?')).length
  await page.waitForTimeout(500)
  const before = asked()
  await page.waitForTimeout(500)
  expect(asked()).toBe(before)

  await page.unroute('**/plants?*')
  await console.button('Retry').click()
  await page.waitForTimeout(500)

  expect(asked()).toBeGreaterThan(before)
  await console.row(2).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})
