// Late responses in the console, in a real Chromium: `bun run test:browser`.
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { connect, ownConsole } from './console-page'

const { daemon, open } = ownConsole()
beforeAll(async () => {
  for (let id = 1; id <= 20; id++) await daemon.create(`{"id":${id},"name":"plant ${id}"}`)
})

/** Holds back the response about a plant. The page has handled it once the promise of `release` resolves. */
async function hold(page: Page, id: number) {
  const isAsked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const url = `**/plants/${id}`
  await page.route(url, async (route) => {
    const response = await route.fetch()
    isAsked.resolve()
    await gate.promise
    await route.fulfill({ response })
  })
  return {
    asked: isAsked.promise,
    async release(): Promise<void> {
      const arrival = page.waitForResponse(url)
      gate.resolve()
      await (await arrival).finished()
      // The page handles the response before the next frame.
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => drawn(null))))
      await page.waitForTimeout(50)
    },
  }
}

test('a late response about a plant does not replace the form opened after it', async () => {
  await using console = await open()
  const { page } = console
  const late = await hold(page, 3)
  await console.button('Edit plant 3').click()
  await late.asked
  await console.button('Edit plant 4').click()
  await console.field('Name').fill('typed')
  await late.release()

  await page.getByRole('dialog', { name: 'Edit plant 4' }).waitFor()
  expect(await console.field('Name').inputValue()).toBe('typed')
  await console.isClean()
})

test('a response after Disconnect opens no form in the next session', async () => {
  await using console = await open()
  const { page } = console
  const late = await hold(page, 6)
  await console.button('Edit plant 6').click()
  await late.asked
  await console.button('Disconnect').click()
  await connect(page)
  await console.row(1).waitFor()
  await late.release()

  expect(await page.getByRole('dialog').count()).toBe(0)
  await console.isClean()
})

test('a late response to a search does not replace a newer one', async () => {
  await using console = await open()
  const { page } = console
  const late = await hold(page, 9)
  await console.search('9')
  await late.asked
  await console.search('10')
  await console.row(10).waitFor()
  await late.release()

  expect(await console.rows()).toEqual([['10', 'plant 10', '']])
  await console.isClean()
})
