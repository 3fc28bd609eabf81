// Chromium, driven by Playwright: the full browser, as only it has a back/forward cache.
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Driver } from './driver'

export async function startChromium(_: string, downloads: string): Promise<Driver> {
  const browser = await chromium.launch({
    executablePath: Bun.which('chromium') ?? '',
    // Chromium cannot use its sandbox as root; it opens only our pages.
    args: ['--headless=new', '--no-sandbox'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  page.on('download', (download) => download.saveAs(join(downloads, download.suggestedFilename())))
  return {
    version: `Chromium ${browser.version()}`,
    open: async (url) => {
      await page.goto(url)
    },
    evaluate: (expression) => page.evaluate(expression),
    move: (x, y) => page.mouse.move(x, y),
    async press(hasShift) {
      if (hasShift) await page.keyboard.down('Shift')
      await page.mouse.down()
      await page.mouse.up()
      if (hasShift) await page.keyboard.up('Shift')
    },
    async pressTwice() {
      for (const clickCount of [1, 2]) {
        await page.mouse.down({ clickCount })
        await page.mouse.up({ clickCount })
      }
    },
    async drag(x, y) {
      await page.mouse.down()
      await page.mouse.move(x, y, { steps: 5 })
      await page.mouse.up()
    },
    async keys(chords) {
      for (const chord of chords) {
        // Playwright has no key for most characters.
        if (chord.length === 1 && [...chord.join()].length === 1)
          await page.keyboard.type(chord.join())
        else await page.keyboard.press(chord.join('+'))
      }
    },
    async chooseFile(expression, path) {
      const field = (await page.evaluateHandle<Element | null>(expression)).asElement()
      await field?.setInputFiles(path)
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}
