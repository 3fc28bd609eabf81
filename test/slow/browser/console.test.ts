// The console in a real Chromium, action by action: `bun run test:browser`.
import { beforeAll, describe, expect, test } from 'bun:test'
import { TOKEN } from '../../harness/daemon'
import { connect, MAX, MIN, openConsole, ownConsole, PHONE } from './console-page'
import { startPrefixProxy } from './prefix-proxy'
import { visit } from './visit'

const { daemon, createToken, browser, open } = ownConsole()

const create = (id: string | number, name: string, tag?: string) =>
  daemon.create(`{"id":${id},${JSON.stringify({ name, tag }).slice(1)}`)

beforeAll(async () => {
  await create(MIN, 'The first of all')
  await create(MAX, 'The last of all', 'end')
  for (let id = 1; id <= 700; id++)
    await create(id, `plant ${id}`, id % 7 === 0 ? 'seventh' : undefined)
})

test('the token is kept only in the memory of the page', async () => {
  await using console = await open()
  const { page } = console
  await console.row(MIN).waitFor()
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
  )

  expect(kept).not.toContain(TOKEN)
  expect(await page.context().cookies()).toEqual([])
  await page.reload()
  await page.getByLabel('Token', { exact: true }).waitFor()
  expect(await page.getByLabel('Token', { exact: true }).inputValue()).toBe('')
  await console.isClean()
})

test('the token is kept in the tab on request: over a reload and in the API reference, until Disconnect', async () => {
  await using visited = await visit(browser, daemon.url)
  const { page } = visited
  const kept = page.getByRole('checkbox', { name: 'Keep in this tab' })
  const field = page.getByLabel('Token', { exact: true })
  expect(await kept.isChecked()).toBeFalse()
  await kept.check()
  await connect(page)
  await page.getByRole('grid').waitFor()
  await page.reload()
  await page.getByRole('grid').waitFor()
  const [reference] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('link', { name: 'API reference' }).click(),
  ])
  const other = reference.getByLabel('Token', { exact: true })
  await other.waitFor()
  expect(await other.inputValue()).toBe(TOKEN)
  expect(await reference.getByRole('checkbox', { name: 'Keep in this tab' }).isChecked()).toBeTrue()
  await page.getByRole('button', { name: 'Disconnect' }).click()
  await field.waitFor()
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  expect(await visited.complaints()).toEqual([])
})

test("an unknown token shows the service's message beside the field", async () => {
  await using visited = await visit(browser, daemon.url)
  const { page } = visited

  await connect(page, 'pst_unknown_to_the_service')

  await page.getByText('The token is unknown, expired or revoked').waitFor()
  const described = await page.getByLabel('Token', { exact: true }).getAttribute('aria-describedby')
  expect(await page.locator(`#${described}`).textContent()).toBe(
    'The token is unknown, expired or revoked',
  )
  await connect(page, 'not a token ⚠')
  await page.getByText('a token has only letters, digits').waitFor()
  await connect(page)
  await page.getByRole('grid').waitFor()
  expect(await visited.complaints()).toEqual([])
})

test('the token is masked, and a password manager can fill it in', async () => {
  await using visited = await visit(browser, daemon.url)
  for (const address of [daemon.url, `${daemon.url}/docs`]) {
    await visited.page.goto(address)
    const field = visited.page.getByLabel('Token', { exact: true })
    const kind = field.evaluate((element: HTMLInputElement) => [element.type, element.autocomplete])
    expect(await kind).toEqual(['password', 'current-password'])
  }
})

test('the token moves the focus to the heading of the page, and Disconnect moves it back to the field', async () => {
  await using visited = await visit(browser, daemon.url)
  const { page } = visited
  const focused = () => page.evaluate(() => document.activeElement?.tagName)
  await page.getByLabel('Token', { exact: true }).fill(TOKEN)
  await page.keyboard.press('Enter')
  await page.getByRole('grid').waitFor()
  expect(await focused()).toBe('H1')

  const disconnect = page.getByRole('button', { name: 'Disconnect' })
  const isThere = () => disconnect.evaluate((button) => button === document.activeElement)
  for (let stops = 0; stops < 8 && !(await isThere()); stops++) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByLabel('Token', { exact: true }).waitFor()
  expect(await focused()).toBe('INPUT')
  await page.keyboard.type(TOKEN)
  await page.keyboard.press('Enter')
  await page.getByRole('grid').waitFor()
  expect(await focused()).toBe('H1')
})

describe('the table', () => {
  test('does not revert a scroll whose event has not arrived yet', async () => {
    await using console = await open()
    const { page, grid } = console
    await page.getByText('702 plants', { exact: true }).waitFor()
    const scroller = grid.locator('.scroller')

    await scroller.evaluate(async (element) => {
      // Runs the table's work after scrolling at the worst moment: between a scroll and its event.
      const timers: (() => void)[] = []
      const own = window.setTimeout
      Object.assign(window, { setTimeout: (act: () => void) => timers.push(act) })
      element.scrollTop = 100
      await new Promise((resolve) => element.addEventListener('scroll', resolve, { once: true }))
      window.setTimeout = own
      element.scrollTop = 2000
      for (const act of timers) act()
    })
    await page.waitForTimeout(500)

    expect(await scroller.evaluate((element) => element.scrollTop)).toBe(2000)
  })

  test('shows an error for an id out of range, and offers to search the names for a missing one', async () => {
    await using console = await open()
    await console.search('77')
    await console.row(77).waitFor()
    await console.search('9223372036854775808')
    const alert = console.page.getByRole('search').getByRole('alert')
    await alert.getByText(`ID: expected an integer from ${MIN} to ${MAX}`).waitFor()
    expect(await console.field('Search').getAttribute('aria-invalid')).toBe('true')
    expect(await console.row(77).count()).toBe(1)
    await console.search('9999')
    await console.page.getByText('No plant matches this search.').waitFor()
    await console.button('Search the names for 9999').click()
    await console.page.getByText('0 plants found; accents and word order ignored').waitFor()
    await console.isClean()
  })

  test('keeps the search in the URL: for back, a reload and a link', async () => {
    await using console = await open()
    const { page } = console
    await console.search('tag:seventh')
    await page.getByText('100 plants found', { exact: true }).waitFor()
    await console.search('plant 21')
    await page.getByText(/^3 plants found/).waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('"plant 21" tag:seventh')
    await page.goBack()
    await page.getByText('100 plants found', { exact: true }).waitFor()
    await page.goForward()
    await page.reload()
    await connect(page)
    await page.getByText(/^3 plants found/).waitFor()
    await console.button('Remove Name plant 21').click()
    await page.getByText('100 plants found', { exact: true }).waitFor()
    await console.isClean()
  })
})

test.each(['"><img src=x onerror=alert(1)><script>alert(1)</script>', '‮evil‬ ordering 👩‍🌾'])(
  'a plant is shown as text: %s',
  async (name) => {
    const id = 900 + name.length
    await create(id, name, name)
    await using console = await open()
    await console.search(String(id))
    await console.row(id).waitFor()

    expect(await console.rows()).toEqual([[String(id), name, name]])
    expect(await console.row(id).locator('b, img, script').count()).toBe(0)
    await console.button(`Edit plant ${id}`).click()
    expect(await console.field('Name').inputValue()).toBe(name)
    await console.button('Cancel').click()
    await daemon.fetch(`/plants/${id}`, { method: 'DELETE' })
    await console.isClean()
  },
)

test('an idle tab takes less than 60 kB a minute', async () => {
  await using console = await open()
  await console.row(MIN).waitFor()
  const network = await console.page.context().newCDPSession(console.page)
  let bytes = 0
  let responses = 0
  network.on('Network.responseReceived', ({ response }) => {
    bytes += response.encodedDataLength
    responses += 1
  })
  network.on('Network.dataReceived', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await network.send('Network.enable')
  await console.page.waitForTimeout(10_000)

  expect(responses).toBeGreaterThan(2)
  expect(bytes * 6).toBeLessThan(60_000)
})

test('? shows the keys; those for changes need a write token', async () => {
  await using console = await open()
  const { page } = console
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await page.keyboard.press('?')
  await dialog.getByText('Add a plant').waitFor()
  expect(await console.barriers()).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await console.button('Shortcuts ?').click()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'detached' })
  await console.isClean()

  const token = await createToken('reader-of-keys', '--scope', 'read')
  await using reader = await open({ token })
  await reader.page.keyboard.press('?')
  await reader.page.getByText('Move in the table').waitFor()
  expect(await reader.page.getByText('Add a plant').count()).toBe(0)
})

test('on a phone, one menu has the less urgent actions', async () => {
  await using console = await open(PHONE)
  const { page } = console
  for (const name of ['Import…', 'Export', 'Reload'])
    expect(await console.button(name).count()).toBe(0)

  await page.getByRole('button', { name: 'More' }).click()
  await console.button('Import…').waitFor()
  expect(await console.barriers()).toEqual([])
  const box = await page.locator('.menu:popover-open').boundingBox()
  expect(box?.x).toBeGreaterThanOrEqual(0)
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
  await console.button('Reload').click()
  await console.button('Import…').waitFor({ state: 'hidden' })
  await console.isClean()
})

test('behind a proxy, everything stays below its path prefix', async () => {
  await using proxy = startPrefixProxy('/garden', daemon.url)
  await using console = await openConsole(browser, `${proxy.url}/garden/`)
  await console.row(MIN).waitFor()
  await console.button('Edit plant 1').click()
  await console.button('Cancel').click()
  await console.page.getByText('Healthy').waitFor()

  const docs = console.page.getByRole('link', { name: 'API reference' })
  await console.page.goto(await docs.evaluate((element) => (element as HTMLAnchorElement).href))
  const form = console.page.getByRole('form', { name: 'Try it: health' })
  await form.getByRole('button', { name: 'Send request' }).click()
  await form.getByText('200 OK').waitFor()
  expect(console.requests().filter((url) => !url.startsWith(`${proxy.url}/garden/`))).toEqual([])
  await console.isClean()
})
