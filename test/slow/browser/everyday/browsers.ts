// The browsers that people use, each installed where it is missing, as root on Debian.
import { afterAll, beforeAll, beforeEach, describe, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { temporaryFolder } from '../../../harness/folder'
import { ownDaemon } from '../../../harness/own-daemon'
import { ownPages } from '../../../harness/own-pages'
import { storedPlants } from '../../../harness/plants'
import { Skipped } from '../../faults/fault'
import { need } from '../../faults/lab'
import { startChromium } from './chromium'
import type { Driver } from './driver'
import { startFirefox } from './firefox'
import { handsOn } from './hands'
import { startWebKit } from './webkit'

type Browser = {
  readonly install: () => Promise<unknown>
  readonly start: (folder: string, downloads: string) => Promise<Driver>
}

const needing =
  (...tools: string[]) =>
  async () => {
    if (tools.some((tool) => Bun.which(tool) === null)) await need(...tools)
  }

const BROWSERS = {
  Chromium: { install: needing('chromium'), start: startChromium },
  Firefox: { install: needing('firefox-esr'), start: startFirefox },
  WebKit: { install: needing('WebKitWebDriver', 'Xvfb'), start: startWebKit },
} as const satisfies Record<string, Browser>

type BrowserName = keyof typeof BROWSERS

const BROWSER_NAMES = Object.keys(BROWSERS) as readonly BrowserName[]

/** All browsers, or the one that TESTED_BROWSER names. */
function chosenBrowsers(): readonly BrowserName[] {
  const only = Bun.env.TESTED_BROWSER
  if (!only) return BROWSER_NAMES
  const chosen = BROWSER_NAMES.filter((name) => name === only)
  if (chosen.length === 0) throw new Error(`TESTED_BROWSER names an unknown browser: ${only}`)
  return chosen
}

/** Installs a browser where it is missing; resolves to the reason if that cannot be done. */
async function missing(name: BrowserName): Promise<string | null> {
  try {
    await BROWSERS[name].install()
    return null
  } catch (error) {
    if (error instanceof Skipped) return error.message
    throw error
  }
}

/** Starts a browser. `downloads`: the folder of its downloads, which is removed when it ends. */
async function startBrowser(name: BrowserName) {
  const folder = temporaryFolder()
  const downloads = folder.file('downloads')
  mkdirSync(downloads)
  const driver = await BROWSERS[name].start(folder.path, downloads)
  return {
    driver,
    downloads,
    async [Symbol.asyncDispose]() {
      await driver[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** A daemon for the tests of a file, whose plants are replaced before each. */
export function ownStore(args: readonly string[] = []) {
  ownPages()
  const own = ownDaemon({ args })
  return {
    ...own,
    plants: () => storedPlants(own.database),
    async replacePlants(plants: readonly object[]): Promise<void> {
      await own.removePlants()
      await own.daemon.fetch('/plants/batch', { json: { plants } })
    },
  }
}

/** The plants 1 to `count`. */
export const numbered = (count: number, tag?: string) =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, name: `plant ${at + 1}`, tag }))

/**
 * Defines tests for each browser, which runs while they do; where it is missing, a skipped test has the reason. Each
 * test begins with an empty page, in a new browser if the one before answers no more.
 */
export async function inEachBrowser(
  define: (
    person: ReturnType<typeof handsOn>,
    browser: () => Awaited<ReturnType<typeof startBrowser>>,
  ) => void,
): Promise<void> {
  for (const name of chosenBrowsers()) {
    const reason = await missing(name)
    describe(`in ${name}`, () => {
      if (reason !== null) {
        test.skip(`nothing is tested: ${reason}`, () => {})
        return
      }
      let browser: Awaited<ReturnType<typeof startBrowser>>
      beforeAll(async () => {
        browser = await startBrowser(name)
      })
      beforeEach(async () => {
        try {
          await browser.driver.open('about:blank')
        } catch (error) {
          console.error(`${name} is started again: ${error}`)
          await browser[Symbol.asyncDispose]()
          browser = await startBrowser(name)
        }
      })
      afterAll(() => browser[Symbol.asyncDispose]())
      define(
        handsOn(() => browser.driver),
        () => browser,
      )
    })
  }
}
