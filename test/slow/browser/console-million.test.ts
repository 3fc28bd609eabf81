// A million plants in the console, in a real Chromium: `bun run test:browser`.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'
import { openConsole, ownBrowser } from './console-page'

const PLANTS = 1_000_000
// Of ids, so that an id is not the number of its row.
const STEP = 7
const MAX_ROWS = 80
const PATIENCE_MS = 240_000

const idOf = (row: number): number => row * STEP

async function millionPlants(database: string): Promise<void> {
  const lines = Array.from({ length: PLANTS }, (_, i) => `{"id":${idOf(i)},"name":"plant ${i}"}\n`)
  const args = ['import', '-', '--format', 'ndjson', '--database', database]
  const { code, err } = await runProgram(args, { stdin: lines.join('') })
  expect({ code, err }).toEqual({ code: 0, err: expect.any(String) })
}

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
  'a store of a million plants scrolls: its start, its middle and its end',
  async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    await millionPlants(database)
    await using daemon = await startDaemon({ database })
    await using console = await openConsole(browser, daemon.url)
    const { page, grid } = console
    const rowCount = () => grid.locator('.rows').getByRole('row').count()
    const scrollTo = (share: number) =>
      grid.locator('.scroller').evaluate((element, to) => {
        element.scrollTop = (element.scrollHeight - element.clientHeight) * to
      }, share)
    const firstSeen = () =>
      grid.evaluate((element) => {
        const { top } = element.querySelector('.scroller')?.getBoundingClientRect() ?? { top: 0 }
        const rows = [...element.querySelectorAll('.rows .row')]
        const seen = rows.find((row) => row.getBoundingClientRect().bottom > top + 1)
        return seen?.querySelector('.id')?.textContent
      })
    await console.row(idOf(3)).waitFor()
    const wheel = async () => {
      await grid.hover()
      for (let turn = 0; turn < 60; turn++) {
        await page.mouse.wheel(0, 400)
        await page.waitForTimeout(16)
      }
    }

    // On a busy machine turns of the wheel still wait: they would move what is scrolled to next.
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

    // To the end, by one request.
    await page.getByText('1,000,000 plants', { exact: true }).waitFor()
    const asked = () => console.requests().filter((url) => url.includes('/plants?')).length
    const before = asked()
    await grid.focus()
    await page.keyboard.press('End')
    await console.row(idOf(PLANTS - 1)).waitFor()
    await atRest()
    expect(asked() - before).toBe(1)
    expect((await console.rows()).at(-1)?.slice(0, 2)).toEqual([
      String(idOf(PLANTS - 1)),
      `plant ${PLANTS - 1}`,
    ])
    expect(await rowCount()).toBeLessThan(MAX_ROWS)

    // To the middle: the rows about there are read.
    await scrollTo(0.5)
    await page.waitForFunction(() => {
      const row = Number(document.querySelector('.rows .row .id')?.textContent) / 7
      return Math.abs(row - 500_000) < 100
    })
    const from = Number(await firstSeen()) / STEP
    const height = await grid
      .locator('.rows .row')
      .first()
      .evaluate((element) => element.clientHeight + 1)
    await grid.hover()
    await page.mouse.wheel(0, height * 10)
    while (Number(await firstSeen()) / STEP === from) await page.waitForTimeout(20)
    await atRest()
    // A wheel moves as many rows as in any list, though a pixel of the scroll bar stands for several.
    expect(Number(await firstSeen()) / STEP - from).toBe(10)
    const late = await frames(page, wheel)
    await atRest()
    expect(await rowCount()).toBeLessThan(MAX_ROWS)

    for (const share of [0.1, 0.9, 0.25, 0.75, 0]) {
      await scrollTo(share)
      await page.waitForFunction((to) => {
        const row = Number(document.querySelector('.rows .row .id')?.textContent || Number.NaN) / 7
        return Math.abs(row - to * 1_000_000) < 200
      }, share)
    }
    expect((await console.rows())[0]?.[1]).toBe('plant 0')

    process.stdout.write(`frames: ${JSON.stringify({ idle, early, late })}\n`)
    for (const { median, p95 } of [early, late]) {
      expect(median / idle.median).toBeLessThan(3)
      expect(p95 / idle.median).toBeLessThan(15)
    }
    await console.isClean()
  },
  PATIENCE_MS * 2,
)
