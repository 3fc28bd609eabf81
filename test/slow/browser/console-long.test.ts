// Long lists in the console, in a real Chromium: `bun run test:browser`.

import { expect, test } from 'bun:test'
import { runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'
import { openConsole, ownBrowser } from './console-page'

const PLANTS = 100_000
const PATIENCE_MS = 240_000

const browser = ownBrowser()

/** The console of a store with plants, as lines of JSON. */
async function openStore(plants = '') {
  const folder = temporaryFolder()
  const database = folder.file('plants.db')
  const args = ['import', '-', '--format', 'ndjson', '--database', database]
  await runProgram(args, { stdin: plants })
  const daemon = await startDaemon({ database })
  const console = await openConsole(browser, daemon.url)
  return {
    console,
    async [Symbol.asyncDispose]() {
      await console.close()
      await daemon.kill()
      folder[Symbol.dispose]()
    },
  }
}

test(
  'every plant of a long list is printed',
  async () => {
    const lines = Array.from({ length: PLANTS }, (_, id) => `{"id":${id},"name":"plant ${id}"}\n`)
    await using store = await openStore(lines.join(''))
    const { console } = store
    const { page } = console
    await page.getByText('100,000 plants', { exact: true }).waitFor()
    await page.evaluate(() => {
      window.print = () => dispatchEvent(new Event('beforeprint'))
    })
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await console.button('Print').click()

    await page.locator('.print caption').waitFor({ state: 'attached', timeout: PATIENCE_MS / 4 })
    expect(await page.locator('.print tbody tr').count()).toBe(PLANTS)
    expect(await page.locator('.print tr').last().textContent()).toEndWith(String(PLANTS - 1))
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
    await console.isClean()
  },
  PATIENCE_MS,
)
