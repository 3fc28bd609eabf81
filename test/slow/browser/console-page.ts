// The console in Chromium, which tests use by roles and labels.
import { expect } from 'bun:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { importLines } from '../../harness/commands'
import { startDaemon, TOKEN, temporaryFolder } from '../../harness/daemon'
import { own } from '../../harness/own'
import { ownDaemon } from '../../harness/own-daemon'
import { ownPages } from '../../harness/own-pages'
import { INSTALL_MS, startBrowser, visit } from './visit'

/** Both ends of int64. */
export const MIN = '-9223372036854775808'
export const MAX = '9223372036854775807'

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

/** Starts a browser for the tests of a file. If missing, it is installed, which needs root. */
export function ownBrowser(): Browser {
  ownPages()
  return own(startBrowser, (browser) => browser.close(), INSTALL_MS)
}

/** Types a token and connects. */
export async function connect(page: Page, token: string = TOKEN): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
}

export type ConsoleOptions = BrowserContextOptions & {
  readonly token?: string
  /** The path and query of the URL. */
  readonly path?: string
}

/** Opens the console at a URL and connects. */
export async function openConsole(browser: Browser, url: string, options: ConsoleOptions = {}) {
  const { token, path = '', ...context } = options
  const visited = await visit(browser, url + path, context)
  const { page } = visited
  await connect(page, token)
  const grid = page.getByRole('grid', { name: 'Plants' })
  await grid.waitFor()
  const { origin } = new URL(url)
  return {
    ...visited,
    grid,
    /** Finds the row of a plant. */
    row: (id: string | number | bigint) =>
      grid.getByRole('row').filter({ has: page.locator('.id', { hasText: exactly(String(id)) }) }),
    /** Returns the cells of every rendered row. */
    rows: (): Promise<string[][]> =>
      grid
        .locator('.rows')
        .getByRole('row')
        .evaluateAll((rows) =>
          rows.map((row) =>
            ['.id', '.name', '.tag'].map((cell) => row.querySelector(cell)?.textContent ?? ''),
          ),
        ),
    /** Types a search and presses Enter. */
    async search(text: string): Promise<void> {
      await page.getByRole('searchbox', { name: 'Search' }).fill(text)
      await page.keyboard.press('Enter')
    },
    button: (name: string) => page.getByRole('button', { name, exact: true }),
    /** Chooses a format in the menu of exports. */
    async export(format: 'Excel' | 'CSV' | 'NDJSON'): Promise<void> {
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      await page.getByRole('button', { name: format, exact: true }).click()
    },
    field: (name: string) => page.getByLabel(name, { exact: true }),
    /** Chooses a file to import. */
    chooseFile: (name: string, content: string | Buffer): Promise<void> =>
      page
        .getByLabel('File to import', { exact: true })
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) }),
    /** Fails if a request left the origin, or the browser reported a problem. */
    async isClean(): Promise<void> {
      const elsewhere = visited.requests().filter((url) => new URL(url).origin !== origin)
      expect(elsewhere.filter((url) => !url.startsWith(`blob:${origin}`))).toEqual([])
      expect(await visited.complaints()).toEqual([])
    },
    [Symbol.asyncDispose]: visited.close,
  }
}

export type ConsolePage = Awaited<ReturnType<typeof openConsole>>

/** Starts a daemon and a browser for the tests of a file; `open` opens the console of the daemon. */
export function ownConsole(args: readonly string[] = []) {
  const own = ownDaemon({ args })
  const browser = ownBrowser()
  return {
    ...own,
    browser,
    open: (options?: ConsoleOptions) => openConsole(browser, own.daemon.url, options),
  }
}

/** Starts a daemon with these plants, as lines of JSON, and opens its console. */
export async function openStore(browser: Browser, lines = '', args: readonly string[] = []) {
  const folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines)
  const daemon = await startDaemon({ database, args })
  const console = await openConsole(browser, daemon.url)
  return {
    ...console,
    folder,
    database,
    daemon,
    async [Symbol.asyncDispose]() {
      await console.close()
      await daemon.kill()
      folder[Symbol.dispose]()
    },
  }
}

const exactly = (text: string): RegExp => new RegExp(`^${text.replace('-', '\\-')}$`)
