// The API reference at /docs, in a real Chromium: `bun run test:browser`.
import { expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'
import { MAX, MIN, ownBrowser } from './console-page'
import { visit } from './visit'

const { daemon, createToken, revokeToken } = ownDaemon()

const browser = ownBrowser()

const open = (options: BrowserContextOptions = {}, url = `${daemon.url}/docs`) =>
  visit(browser, url, options)

const formOf = (page: Page, operation: string) =>
  page.getByRole('form', { name: `Try it: ${operation}`, exact: true })

type Fields = Readonly<Record<string, string>>

/** Fills in the form of an operation by its labels and sends it; resolves to the response that it shows. */
async function tryIt(page: Page, operation: string, fields: Fields = {}): Promise<string> {
  const form = formOf(page, operation)
  for (const [label, value] of Object.entries(fields)) await form.getByLabel(label).fill(value)
  await form.getByRole('button', { name: 'Send request' }).click()
  const status = form.locator('.outcome .status')
  await status.waitFor()
  // A response that is not JSON has text outside the code box, so all of it is read.
  return String(await form.locator('.outcome').textContent()).replaceAll(/\s+/g, ' ')
}

/** Deletes a plant with its form, and confirms. */
async function remove(page: Page, id: string): Promise<string> {
  const form = formOf(page, 'deletePlant')
  await form.getByLabel('id').fill(id)
  await form.getByRole('button', { name: 'Send request' }).click()
  await form.getByRole('button', { name: 'Delete', exact: true }).click()
  await form.locator('.outcome .status').waitFor()
  return String(await form.locator('.outcome').textContent())
}

const typeToken = (page: Page, token: string = TOKEN) =>
  page.getByLabel('Token', { exact: true }).fill(token)

test('the reference shows every operation with its responses and errors', async () => {
  await using visited = await open()
  const { page } = visited
  type Operation = { operationId: string; summary: string; responses: Record<string, object> }
  const { paths, components } = (await (await daemon.fetch('/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, object> }
  }
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  )

  await page.getByRole('heading', { name: 'API reference' }).waitFor()
  expect(all.length).toBeGreaterThan(8)
  for (const { path, method, operationId, summary, responses } of all) {
    const article = page.getByRole('article', { name: summary, exact: true })
    const text = await article.evaluate((element) => element.textContent)
    const statuses = Object.keys(responses).filter((status) => status !== '4XX')
    expect(text).not.toMatch(/\dXX|\^/)
    for (const shown of [path, method.toUpperCase(), ...statuses]) {
      expect({ operationId, text }).toEqual({ operationId, text: expect.stringContaining(shown) })
    }
    expect(await formOf(page, operationId).count()).toBe(1)
  }
  expect(await page.getByRole('article').count()).toBe(
    all.length + Object.keys(components.schemas).length,
  )
  expect(await page.getByText(`${MIN} to ${MAX}`).count()).toBeGreaterThan(3)
})

test('the reference needs no token, and sends nothing to another host', async () => {
  await using visited = await open()
  await visited.page.getByRole('heading', { name: 'API reference' }).waitFor()

  const origins = visited.requests().map((url) => new URL(url).origin)
  expect(new Set(origins)).toEqual(new Set([daemon.url]))
  expect(visited.requests()).toContain(`${daemon.url}/openapi.json`)
  expect(await visited.complaints()).toEqual([])
})

test('the reference links to the console, and the list or a URL leads to an operation', async () => {
  await using visited = await open()
  const { page } = visited
  const list = page.getByRole('navigation', { name: 'Operations' })

  await list.getByRole('link', { name: 'Read a plant' }).click()
  expect(new URL(page.url()).hash).toBe('#readPlant')
  await page.locator('.entry[aria-current]', { hasText: 'Read a plant' }).waitFor()
  await page.evaluate(() => scrollTo(0, 0))
  await page.locator('.contents:not(:has(.entry[aria-current]))').waitFor()
  await page.getByRole('link', { name: 'Console' }).click()
  expect(page.url()).toBe(`${daemon.url}/`)
  await page.goto(`${daemon.url}/docs#metrics`)
  const title = page.getByRole('heading', { name: 'Read the metrics' })
  await title.waitFor()
  expect((await title.boundingBox())?.y).toBeWithin(0, 900)
})

test('the search finds words, fields and error numbers, and Enter opens the first result', async () => {
  await using visited = await open()
  const { page } = visited
  await page.getByRole('heading', { name: 'API reference' }).waitFor()
  const list = page.getByRole('navigation', { name: 'Operations' })
  const entries = () => list.getByRole('link').allTextContents()
  const all = await entries()

  await page.keyboard.press('/')
  await page.keyboard.type('ETag delete')
  expect(await entries()).toEqual([])
  await list.getByText('Nothing has all of these words.').waitFor()
  await page.getByRole('searchbox', { name: 'Search' }).fill('if-match DELETE')
  expect(await entries()).toEqual(['DELETEDelete a plant'])
  await page.keyboard.press('Enter')
  expect(new URL(page.url()).hash).toBe('#deletePlant')
  await page.getByRole('searchbox', { name: 'Search' }).fill('40902')
  expect((await entries()).length).toBeWithin(1, 4)
  await page.getByRole('searchbox', { name: 'Search' }).fill('replacement')
  expect(await entries()).toContain('Replacement')
  expect(await visited.barriers()).toEqual([])
  await page.getByRole('searchbox', { name: 'Search' }).fill('')
  expect(await entries()).toEqual(all)
})

test.each([MAX, MIN])('a form creates and reads a plant with the id %s, exactly', async (id) => {
  await using visited = await open()
  const { page } = visited
  await typeToken(page)
  const name = '<b>Éric</b> 🌿 שושנה'
  const body = `{"id":${id},"name":${JSON.stringify(name)}}`

  expect(await tryIt(page, 'createPlant', { Body: body })).toContain('200 OK')
  const shown = await tryIt(page, 'readPlant', { id })

  expect(shown).toContain(`{ "id": ${id}, "name": "${name}" }`)
  expect(await tryIt(page, 'listPlants')).toContain(id)
  expect(await (await daemon.fetch(`/plants/${id}`)).text()).toContain(`"id":${id},`)
  expect(await remove(page, id)).toContain('204')
  expect(await visited.complaints()).toEqual([])
})

test('a form shows the error of the service with its number and headers', async () => {
  await using visited = await open()
  const { page } = visited
  await typeToken(page)

  const refused = await tryIt(page, 'readPlant', { id: '9223372036854775808' })
  expect(refused).toContain('400 Bad Request')
  expect(refused).toContain(`"error": 40002, "message": "id: expected an integer from ${MIN}`)
  expect(await tryIt(page, 'createPlant', { Body: '{"id":1' })).toContain('"error": 40001')
  expect(await tryIt(page, 'readPlant', { id: '404' })).toContain('"error": 40402')
  const form = formOf(page, 'readPlant')
  // A screen reader speaks the status line, not the whole response.
  const spoken = form.locator('[role=status], [aria-live]')
  expect(await spoken.allTextContents()).toEqual([expect.stringMatching(/^404 Not Found \d+ ms$/)])
  await form.getByText('Headers', { exact: true }).click()
  expect(await form.textContent()).toContain('content-type: application/json')
  expect(await visited.complaints()).toEqual([])
})

test('a form sends the current token of the bar, and only to operations that need one', async () => {
  await using visited = await open()
  const { page } = visited
  const token = await createToken('reader', '--scope', 'read')

  expect(await formOf(page, 'listPlants').textContent()).toContain('This operation needs a token')
  expect(await tryIt(page, 'listPlants')).toContain('"error": 40101')
  // A token copied from a page may have a no-break space.
  await typeToken(page, `\u00a0${token} `)
  expect(await tryIt(page, 'listPlants')).toContain('200 OK')
  expect(await tryIt(page, 'createPlant')).toContain('"error": 40301')
  await revokeToken('reader')
  expect(await tryIt(page, 'listPlants')).toContain('"error": 40102')
  const health = page.waitForRequest('**/health')
  expect(await tryIt(page, 'health')).toContain('200 OK')
  expect(await (await health).headerValue('authorization')).toBeNull()
})

test('a form keeps the token only in the memory of the page, and out of the command', async () => {
  await using visited = await open()
  const { page } = visited
  await typeToken(page)
  await tryIt(page, 'listPlants')

  const stored = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
  )
  expect(stored).not.toContain(TOKEN)
  expect(await page.locator('main').textContent()).not.toContain(TOKEN)
  await formOf(page, 'listPlants').getByText('As code').click()
  expect(await formOf(page, 'listPlants').textContent()).toContain(
    `curl '${daemon.url}/plants' \\\n  -H "Authorization: Bearer $TOKEN"`,
  )
  await page.reload()
  expect(await page.getByLabel('Token', { exact: true }).inputValue()).toBe('')
})

test('a form asks before it deletes, and a second Enter does not confirm', async () => {
  await using visited = await open()
  const { page } = visited
  await typeToken(page)
  await daemon.create('{"id":31,"name":"Ficus"}')
  const form = formOf(page, 'deletePlant')
  const question = form.getByText('This deletes /plants/31 for good.')
  const stored = async () => (await daemon.fetch('/plants/31')).status
  await form.getByLabel('id').fill('31')

  await page.keyboard.press('Enter')
  await question.waitFor()
  expect(await visited.barriers()).toEqual([])
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'detached' })
  expect(await stored()).toBe(200)
  const send = form.getByRole('button', { name: 'Send request' })
  const hasFocus = () => send.evaluate((button) => button === document.activeElement)
  await until('the focus', hasFocus)
  await page.keyboard.press('Enter')
  await question.waitFor()
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'detached' })
  await until('the focus', hasFocus)
  expect(await stored()).toBe(200)

  await remove(page, '31')
  expect(await stored()).toBe(404)
})

test('a form copies its code even without a clipboard, as over plain HTTP', async () => {
  await using visited = await open()
  const { page } = visited
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', {}))
  await formOf(page, 'health').getByText('As code').click()
  await page.getByRole('button', { name: 'Copy: curl: health' }).click()
  await formOf(page, 'health').getByText('Copied').waitFor()
  const field = formOf(page, 'createPlant').getByLabel('Body')
  await field.fill('')
  await page.keyboard.press('Control+v')
  expect(await field.inputValue()).toBe(`curl '${daemon.url}/health'`)
  await page.getByRole('button', { name: 'Copy: curl: health' }).getByText('Copy').waitFor()
})

test('a form works with the keyboard alone', async () => {
  await using visited = await open()
  const { page } = visited
  await typeToken(page)
  const form = formOf(page, 'readPlant')
  await form.getByLabel('id').focus()
  await page.keyboard.type('12')
  await page.keyboard.press('Enter')

  await form.getByText('404 Not Found').waitFor()
  await page.getByLabel('Token', { exact: true }).focus()
  for (const key of ['Shift+Tab', 'Shift+Tab', 'Shift+Tab', 'Enter', 'Tab'])
    await page.keyboard.press(key)
  expect(await page.locator('main a:focus').count()).toBe(1)
})

test('a form names the field that no header can hold, and sends nothing', async () => {
  await using visited = await open()
  const { page } = visited
  await page.getByRole('heading', { name: 'API reference' }).waitFor()
  const before = visited.requests().length
  const form = formOf(page, 'readPlant')
  await form.getByLabel('id').fill('1')

  await typeToken(page, 'pst_\u2713')
  await form.getByRole('button', { name: 'Send request' }).click()
  await form.getByText('The token has a character that is not allowed in a header.').waitFor()
  await typeToken(page)
  await form.getByLabel('If-Match').fill('"\u2713"')
  await form.getByRole('button', { name: 'Send request' }).click()
  await form.getByText('If-Match has a character that is not allowed in a header.').waitFor()
  expect(await form.textContent()).not.toContain('still running')
  expect(visited.requests().length).toBe(before)
})

test('a form reports a missing response', async () => {
  await using visited = await open()
  const { page } = visited
  await page.route('**/plants', (route) => route.abort())
  const form = formOf(page, 'listPlants')

  await form.getByRole('button', { name: 'Send request' }).click()

  await form.getByText('Is plantstore still running?').waitFor()
})

const LOOKS: [name: string, options: BrowserContextOptions][] = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true }],
  // A window of 1280 pixels at 200 % zoom.
  ['large', { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 }],
]

test.each(LOOKS)('the reference passes axe and does not overflow: %s', async (_name, options) => {
  await using visited = await open(options)
  const { page } = visited
  await typeToken(page)
  await daemon.create('{"id":7,"name":"Monstera deliciosa","tag":"aroid"}')
  await tryIt(page, 'readPlant', { id: '7' })
  await tryIt(page, 'createPlant', { Body: '{"id":7,"name":"Ficus"}' })
  for (const summary of await page.locator('main summary').all()) await summary.click()

  expect(await visited.barriers()).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  expect(await visited.complaints()).toEqual([])
})
