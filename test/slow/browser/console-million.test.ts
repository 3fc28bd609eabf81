// A million plants in the console, in a real Chromium: `bun run test:browser`.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openStore, ownBrowser } from './console-page'

const PLANTS = 1_000_000
// The step between ids, so that an id is not a row number.
const STEP = 7
const MAX_ROWS = 80
const PATIENCE_MS = 240_000

const idOf = (row: number): number => row * STEP

const lineOf = (row: number): string => `{"id":${idOf(row)},"name":"plant ${row}"}\n`

/** The median time between frames of a page, and the longest, while something is done. */
async function frames(page: Page, act: () => Promise<void>) {
  await page.evaluate(() => {
    const times: number[] = []
    Object.assign(globalThis, { times })
    const next = (now: number) => {
      times.push(now)
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })
  await act()
  const times = await page.evaluate(() => Reflect.get(globalThis, 'times') as number[])
  const spans = times.slice(1).map((time, index) => time - (times[index] ?? time))
  spans.sort((a, b) => a - b)
  return { median: spans[spans.length >> 1] ?? 0, p95: spans[Math.floor(spans.length * 0.95)] ?? 0 }
}

const browser = ownBrowser()

test(
  'a table of a million plants loads more on scrolling, and any plant can be found',
  async () => {
    const lines = Array.from({ length: PLANTS }, (_, row) => lineOf(row)).join('')
    await using console = await openStore(browser, lines)
    const { page, grid } = console
    const rowCount = () => grid.locator('.rows').getByRole('row').count()
    const says = (text: string) => page.getByText(text, { exact: true }).waitFor()
    const asked = () => console.requests().filter((url) => url.includes('/plants?')).length
    await console.row(idOf(3)).waitFor()
    await says('The first 250 of 1,000,000 plants; a search or a filter finds any')
    const wheel = async () => {
      await grid.hover()
      for (let turn = 0; turn < 60; turn++) {
        await page.mouse.wheel(0, 400)
        await page.waitForTimeout(16)
      }
    }

    // On a busy machine, wheel events may still be queued, and would disturb the next scroll.
    const atRest = () =>
      page.waitForFunction(async () => {
        const scroller = document.querySelector('.scroller')
        const before = scroller?.scrollTop
        await new Promise((resolve) => setTimeout(resolve, 500))
        return scroller?.scrollTop === before
      })

    const idle = await frames(page, () => page.waitForTimeout(1000))
    const early = await frames(page, wheel)
    await atRest()
    expect(await rowCount()).toBeLessThan(MAX_ROWS)
    await says('The first 1,250 of 1,000,000 plants; a search or a filter finds any')

    // Scrolling to the end of the loaded rows loads more with one request.
    const before = asked()
    await grid.focus()
    await page.keyboard.press('End')
    await console.row(idOf(1249)).waitFor()
    await says('The first 2,250 of 1,000,000 plants; a search or a filter finds any')
    await atRest()
    expect(asked() - before).toBe(1)
    const late = await frames(page, wheel)
    await atRest()
    expect(await rowCount()).toBeLessThan(MAX_ROWS)

    // The descending order begins with the last plants.
    await page.getByRole('columnheader', { name: 'ID' }).getByRole('button').click()
    await console.row(idOf(PLANTS - 1)).waitFor()
    expect((await console.rows())[0]?.[1]).toBe(`plant ${PLANTS - 1}`)

    // Any plant is found, by name or by id.
    await page.getByRole('searchbox', { name: 'Search' }).fill('plant 999985')
    await page.waitForFunction(
      () => document.querySelector('.rows .name')?.textContent === 'plant 999985',
    )
    await console.search(String(idOf(500_000)))
    await says('1 plant found')
    expect((await console.rows())[0]?.[1]).toBe('plant 500000')

    for (const { median, p95 } of [early, late]) {
      expect(median / idle.median).toBeLessThan(3)
      expect(p95 / idle.median).toBeLessThan(15)
    }
    await console.isClean()
  },
  PATIENCE_MS * 2,
)
