// The first minute with the console, in a real Chromium: `bun run test:browser`.
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Response } from 'playwright-core'
import { startDaemon, TOKEN, temporaryFolder } from '../../harness/daemon'
import { storedPlants } from '../../harness/plants'
import { openConsole, ownConsole, PHONE } from './console-page'
import { visit } from './visit'

const { daemon, createToken, browser, open } = ownConsole()
beforeAll(async () => {
  for (let id = 1; id <= 300; id++) await daemon.create(`{"id":${id},"name":"plant ${id}"}`)
})

describe('a link with a token in its fragment', () => {
  test('opens the console connected, and leaves no token in the address', async () => {
    await using visited = await visit(browser, `${daemon.url}/?q=plant+7#token=${TOKEN}`)
    const { page } = visited
    await page.getByText('11 plants found').waitFor()

    expect(page.url()).toBe(`${daemon.url}/?q=%22plant+7%22`)
    const sent = visited.requests().filter((url) => !url.includes('#'))
    expect(sent.length).toBeGreaterThan(3)
    expect(sent.filter((url) => url.includes(TOKEN))).toEqual([])
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    await page.reload()
    await page.getByLabel('Token', { exact: true }).waitFor()
    expect(await visited.complaints()).toEqual([])
  })

  test('connects an open page when it is pasted there, or reports a refused token', async () => {
    await using visited = await visit(browser, daemon.url)
    const { page } = visited
    await page.goto(`${daemon.url}/#token=pst_wrong_0123456789`)
    await page.getByText('the token is unknown, expired or revoked').waitFor()
    expect(page.url()).toBe(`${daemon.url}/`)
    await page.goto(`${daemon.url}/#token=${TOKEN}`)
    await page.getByRole('grid').waitFor()
    expect(page.url()).toBe(`${daemon.url}/`)
    expect(await visited.complaints()).toEqual([])
  })
})

test.each([
  ['a write token', []],
  ['a read-only token', ['--scope', 'read']],
])(
  'the console connects with %s, reads no page of plants twice, and no request is refused',
  async (_, flags) => {
    const token = await createToken(`browser${flags.length}`, ...flags)
    await using visited = await visit(browser, daemon.url)
    const { page } = visited
    const refused: string[] = []
    const lists: string[] = []
    page.on('response', (response) => {
      if (response.url().includes('/plants?')) lists.push(response.url())
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
    })

    await page.goto(`${daemon.url}/?plant=7#token=${token}`)
    await page.getByText('ID 7', { exact: true }).waitFor()
    await page.getByText('300 plants', { exact: true }).waitFor()
    const edits = page.getByRole('button', { name: 'Edit', exact: true })
    expect(await edits.count()).toBe(flags.length === 0 ? 1 : 0)

    await page.waitForTimeout(500)
    expect(refused).toEqual([])
    const [first, rest, more] = lists.map((url) => new URL(url).searchParams)
    expect([first?.get('after'), first?.get('limit')]).toEqual([null, '250'])
    expect([rest?.get('after'), more]).toEqual(['250', undefined])
    expect(await visited.complaints()).toEqual([])
  },
)

test('the form is loaded before a token is accepted, and takes typed text at once', async () => {
  await using visited = await visit(browser, 'about:blank')
  const { page } = visited
  const isForm = async (response: Response): Promise<boolean> =>
    response.url().includes('/part-') && (await response.text()).includes('Add and add another')
  const [loaded] = await Promise.all([page.waitForResponse(isForm), page.goto(daemon.url)])
  await loaded.finished()
  await page.getByLabel('Token', { exact: true }).fill(TOKEN)
  await page.keyboard.press('Enter')
  await page.getByRole('grid').waitFor()
  await page.keyboard.type('nNew fern')

  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('New fern')
})

test('an empty store offers Add, Import and twelve samples, which one click removes', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await using empty = await startDaemon({ database })
  await using console = await openConsole(browser, empty.url)
  const { page } = console
  await page.getByRole('heading', { name: 'No plants yet' }).waitFor()
  expect(await console.barriers()).toEqual([])
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    console.button('Import a file…').click(),
  ])
  expect(chooser.isMultiple()).toBeTrue()
  const files = 'A file may be CSV, TSV, a workbook (.xlsx, .xls, .ods), JSON or NDJSON.'
  await page.getByText(files).waitFor()
  const chosen = await console.field('File to import').getAttribute('accept')
  expect(chosen?.split(',')).toEqual(expect.arrayContaining(['.xlsx', '.xls', '.ods', '.geojson']))
  await console.button('Add the first plant').click()
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#id')?.value === '1')
  await page.keyboard.press('Escape')
  await console.button('Add twelve sample plants to look around').click()
  await console.row(12).waitFor()
  expect(storedPlants(database).length).toBe(12)
  await page.getByText('There are sample plants to look around.').waitFor()
  expect(await console.barriers()).toEqual([])
  // A sample that was changed stays.
  await empty.fetch('/plants/3', { method: 'PATCH', json: { name: 'My spider plant' } })
  await console.button('Reload').click()
  await console.row(3).getByText('My spider plant').waitFor()

  await console.button('Remove them').click()
  await console.button('Undo the deletion of 11 plants').waitFor()
  expect(storedPlants(database).map(({ name }) => name)).toEqual(['My spider plant'])
  await console.isClean()
})

test('on a phone the page is as high as its window, even with ticked plants', async () => {
  await using console = await open(PHONE)
  const { page } = console
  await console.row(1).waitFor()
  await page.getByText('300 plants', { exact: true }).waitFor()
  const isWhole = () => page.evaluate(() => document.documentElement.scrollHeight <= innerHeight)

  expect(await isWhole()).toBeTrue()
  await page.getByRole('checkbox', { name: 'Select all' }).click()
  await page.getByText('All 300 selected').waitFor()
  expect(await isWhole()).toBeTrue()
  expect(await console.barriers()).toEqual([])
})

test('the page says that it is loading the plants to tick', async () => {
  await using console = await open()
  const { page } = console
  await console.row(1).waitFor()
  const { promise: isSeen, resolve: read } = Promise.withResolvers<void>()
  await page.route('**/plants?*', async (route) => {
    await isSeen
    await route.continue()
  })
  await console.button('Reload').click()
  await page.getByRole('checkbox', { name: 'Select all' }).click()
  await page.getByText('Selecting…', { exact: true }).waitFor()
  expect(await page.getByRole('region', { name: 'Selected plants' }).count()).toBe(0)
  read()
  await page.getByText('All 300 selected').waitFor()
  await console.isClean()
})
