// Everyday tasks in the browser that TESTED_BROWSER names, by default Chromium. A missing browser is installed if this
// runs as root on Debian.
import { afterAll, beforeAll, beforeEach, test as testAlways } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { TOKEN } from '../../../harness/daemon'
import { temporaryFolder } from '../../../harness/folder'
import { ownDaemon } from '../../../harness/own-daemon'
import { ownPages } from '../../../harness/own-pages'
import { storedPlants } from '../../../harness/plants'
import { has } from '../../release/lab'
import { startChromium } from './chromium'
import type { Driver } from './driver'
import { startFirefox } from './firefox'
import { Person } from './person'
import { startWebKit } from './webkit'

type Browser = {
  readonly tools: readonly string[]
  readonly start: (folder: string, downloads: string) => Promise<Driver>
}

const BROWSERS: Readonly<Record<string, Browser>> = {
  Chromium: { tools: ['chromium'], start: startChromium },
  Firefox: { tools: ['firefox-esr'], start: startFirefox },
  WebKit: { tools: ['WebKitWebDriver', 'Xvfb'], start: startWebKit },
}

function testedBrowser(): Browser {
  const name = Bun.env.TESTED_BROWSER || 'Chromium'
  const browser = BROWSERS[name]
  if (!browser) throw new Error(`TESTED_BROWSER names an unknown browser: ${name}`)
  return browser
}

const { tools, start } = testedBrowser()
const isInstalled = tools.every((tool) => Bun.which(tool)) || (await has(...tools))

/** A test that is skipped if the browser cannot be installed. */
export const test = isInstalled ? testAlways : testAlways.skip

async function startBrowser() {
  const folder = temporaryFolder()
  const downloads = folder.file('downloads')
  mkdirSync(downloads)
  const driver = await start(folder.path, downloads)
  return {
    driver,
    downloads,
    async [Symbol.asyncDispose]() {
      await driver[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** Starts a browser for the tests of a file. Each test begins with an empty page, in a new browser after a crash. */
function ownBrowser() {
  let browser: Awaited<ReturnType<typeof startBrowser>>
  if (isInstalled) {
    beforeAll(async () => {
      browser = await startBrowser()
    })
    beforeEach(async () => {
      try {
        await browser.driver.open('about:blank')
      } catch (error) {
        console.error(`the browser is started again: ${error}`)
        await browser[Symbol.asyncDispose]()
        browser = await startBrowser()
      }
    })
    afterAll(() => browser[Symbol.asyncDispose]())
  }
  return () => browser
}

/** Starts a daemon, and a person with a browser, for the tests of a file. */
export function ownTasks(args: readonly string[] = []) {
  ownPages()
  const own = ownDaemon({ args })
  const browser = ownBrowser()
  const person = new Person(() => browser().driver)
  /** Opens the console by a link with a token; resolves once it shows plants and their cells can be edited. */
  async function openConsole(token: string = TOKEN): Promise<void> {
    await person.open(`${own.daemon.url}/#token=${token}`)
    await person.untilEqual(`document.querySelector('.rows .id[aria-readonly]') !== null`, true)
  }

  return {
    ...own,
    person,
    browser,
    openConsole,
    plants: () => storedPlants(own.database),
    /** Opens the console with these plants only. */
    async openWith(plants: readonly object[]): Promise<void> {
      await own.removePlants()
      await own.daemon.fetch('/plants/batch', { json: { plants } })
      await openConsole()
    },
  }
}

/** Returns the plants 1 to `count`. */
export const numbered = (count: number, tag?: string) =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, name: `plant ${at + 1}`, tag }))
