// The look of the console: barriers found by axe-core, narrow and enlarged pages, and pictures: `bun run test:browser`.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { root, runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { type ConsoleOptions, connect, MAX, openConsole, ownBrowser } from './console-page'
import { visit } from './visit'

const pictures = join(root, Bun.env.PICTURES || 'dist/pictures')
mkdirSync(pictures, { recursive: true })

const { daemon, createToken, revokeToken } = ownDaemon()
const browser = ownBrowser()

const GENERA = [
  ['Monstera deliciosa', 'aroid'],
  ['Ficus lyrata', 'fig'],
  ['Goeppertia orbifolia', 'prayer plant'],
  ['Pilea peperomioides', undefined],
  ['Epipremnum aureum', 'aroid'],
  ['Dracaena trifasciata', 'succulent'],
  ['Strelitzia nicolai', 'bird of paradise'],
  ['Aloe vera', 'succulent'],
] as const
const PLACES = ['balcony', 'bathroom', 'bedroom', 'hall', 'kitchen', 'office', 'window'] as const
beforeAll(async () => {
  await daemon.create('{"id":1,"name":"نبتة العنكبوت","tag":"زينة"}')
  await daemon.create('{"id":2,"name":"🌵 Opuntia <microdasys>","tag":"succulent"}')
  await daemon.create(`{"id":${MAX},"name":"Adansonia digitata"}`)
  for (let id = 3; id < 400; id++) {
    const [name, tag] = GENERA[id % GENERA.length] ?? ['Rosa', undefined]
    await daemon.create(JSON.stringify({ id, name, tag }))
  }
})

// Something to see in the charts, while the tests run.
let isBusy = true
async function create(): Promise<void> {
  for (let id = 1000; isBusy; id++) {
    await daemon.create(`{"id":${id},"name":"plant ${id}"}`).catch(() => {})
    await Bun.sleep(4 + 20 * Math.sin(id / 40) ** 2)
  }
}
beforeAll(() => void create())
afterAll(() => {
  isBusy = false
})

const desktop = { viewport: { width: 1280, height: 800 } }
const phone = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
}
const VIEWS: readonly (readonly [name: string, options: ConsoleOptions])[] = [
  ['light', desktop],
  ['dark', { ...desktop, colorScheme: 'dark' }],
  ['phone', phone],
  ['zoomed', { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
  ['contrast', { ...desktop, forcedColors: 'active', reducedMotion: 'reduce' }],
]

const shoot = (page: Page, name: string) =>
  page.screenshot({ path: join(pictures, `console-${name}.png`) })

/** True if everything is as wide as the page at most. */
const isNarrow = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)

describe.each(VIEWS)('%s', (name, options) => {
  test('the first page passes axe', async () => {
    await using visited = await visit(browser, daemon.url, options)
    await connect(visited.page, 'pst_wrong_0123456789')
    await visited.page.getByText('the token is unknown, expired or revoked').waitFor()

    expect(await visited.barriers()).toEqual([])
    expect(await isNarrow(visited.page)).toBeTrue()
    await shoot(visited.page, `${name}-welcome`)
  })

  test('the table, an undo, a form and an import pass axe', async () => {
    await using console = await openConsole(browser, daemon.url, options)
    const { page } = console
    await console.row(3).waitFor()
    await page.getByText('Healthy').waitFor()
    expect(await console.barriers()).toEqual([])
    expect(await isNarrow(page)).toBeTrue()
    await page.mouse.move(0, 0)
    await shoot(page, name)

    const isPhone = (await console.button('Delete plant 3').count()) === 0
    if (isPhone) await console.button('Open plant 3').click()
    await console.button(isPhone ? 'Delete' : 'Delete plant 3').click()
    await console.button('Undo the deletion of plant 3').waitFor()
    expect(await console.barriers()).toEqual([])
    await console.button('Undo the deletion of plant 3').click()
    await console.row(3).waitFor()
    // A plant that is new in each view.
    const id = 2_000_000 + VIEWS.findIndex(([view]) => view === name)
    const lines = `{"id":1,"name":"Rosa"}\nno JSON\n{"id":${id},"name":"Tulipa"}\n`
    await console.field('File to import').setInputFiles({
      name: 'garden.ndjson',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from(lines),
    })
    await page.getByRole('cell', { name: 'Tulipa' }).waitFor()
    expect(await console.barriers()).toEqual([])
    expect(await isNarrow(page)).toBeTrue()
    await shoot(page, `${name}-preview`)
    await page.getByRole('button', { name: /^Import \d+ plants?$/ }).click()
    await page.getByText(/^Done: /).waitFor()
    expect(await console.barriers()).toEqual([])
    expect(await isNarrow(page)).toBeTrue()
    await shoot(page, `${name}-import`)
    await console.button('Close').click()

    await console.row(5).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).first().click()
    expect(await console.barriers()).toEqual([])
    expect(await isNarrow(page)).toBeTrue()
    await shoot(page, `${name}-panel`)
    await page.keyboard.press('Escape')
    await console.button('Edit').click()
    await console.field('Name').fill('Mine')
    await daemon.fetch('/plants/5', { method: 'PATCH', json: { name: `theirs, ${name}` } })
    await console.button('Save').click()
    await page.getByText('Someone else changed the name too.').waitFor()
    expect(await console.barriers()).toEqual([])
    await shoot(page, `${name}-conflict`)
    await console.isClean()
  }, 60_000)
})

test('the picture of the README has plants by name, and the history of one', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await using garden = await startDaemon({ database, args: ['--keep-changes', '1d'] })
  const as = async (name: string) => {
    const { out } = await runProgram(['token', 'create', name, '--database', database])
    return { authorization: `Bearer ${out.trim()}` }
  }
  const [anna, ben] = [await as('anna'), await as('ben')]
  const plants = GENERA.flatMap(([name, tag]) =>
    PLACES.map((place) => ({ name: `${name}, ${place}`, tag })),
  ).map((plant, at) => ({ id: ((at * 9) % (GENERA.length * PLACES.length)) + 1, ...plant }))
  await garden.fetch('/plants/batch', { json: { plants }, headers: anna })
  const { id } = plants.find(({ name }) => name === 'Aloe vera, kitchen') ?? { id: 1 }
  for (const [headers, json] of [
    [anna, { name: 'Aloe vera, hall', tag: 'aroid' }],
    [ben, { tag: 'succulent' }],
    [anna, { name: 'Aloe vera, kitchen' }],
  ] as const) {
    await garden.fetch(`/plants/${id}`, { method: 'PATCH', json, headers })
  }
  await using console = await openConsole(browser, `${garden.url}/?sort=name&plant=${id}`, {
    viewport: { width: 1280, height: 720 },
  })
  const { page } = console
  await page.getByText('tag: aroid → succulent').waitFor()
  await page.getByText(`${plants.length} plants`, { exact: true }).waitFor()
  await page.mouse.move(0, 0)
  expect(await console.barriers()).toEqual([])
  await shoot(page, 'readme')
}, 60_000)

test('the form for another token passes axe', async () => {
  await using console = await openConsole(browser, daemon.url, {
    token: await createToken('looks'),
  })
  await console.row(3).waitFor()
  await revokeToken('looks')
  await console.page.getByText('The token is no longer accepted').waitFor()

  expect(await console.barriers()).toEqual([])
  await shoot(console.page, 'revoked')
})

test('on a phone the badge of a read-only token stands apart from the link beside it', async () => {
  const token = await createToken('badge', '--scope', 'read')
  await using console = await openConsole(browser, daemon.url, { token, ...phone })
  const { page } = console
  const badge = await page.getByText('Read-only token').boundingBox()
  const link = await page.getByRole('link', { name: 'API reference' }).boundingBox()
  expect((link?.x ?? 0) - (badge?.x ?? 0) - (badge?.width ?? 0)).toBeGreaterThan(4)
})

test('the table can be read at 200 %: nothing is cut off without a way to scroll', async () => {
  await using console = await openConsole(browser, daemon.url, {
    viewport: { width: 640, height: 400 },
    deviceScaleFactor: 2,
  })
  await console.row(3).waitFor()
  for (const name of ['Add plant', 'More', 'Open plant 3']) {
    await console.button(name).scrollIntoViewIfNeeded()
    expect(await console.button(name).isVisible()).toBeTrue()
  }
})

test('on a small page short ids leave the names whole, and a long one is whole too', async () => {
  await using console = await openConsole(browser, daemon.url, {
    viewport: { width: 768, height: 1024 },
  })
  const { page } = console
  await console.row(3).waitFor()
  const cut = (column: string): Promise<string[]> =>
    page
      .locator(`.rows ${column}`)
      .evaluateAll((cells) =>
        cells
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ textContent }) => textContent),
      )
  expect(await cut('.name')).toEqual([])
  expect(await cut('.id')).toEqual([])
  await shoot(page, 'tablet')

  await console.search(MAX)
  await page.getByText('Adansonia digitata').waitFor()
  expect(await cut('.id')).toEqual([])
  const left = async (cell: Locator) => (await cell.boundingBox())?.x
  expect(await left(page.getByRole('columnheader', { name: 'Name' }))).toBe(
    await left(console.row(MAX).locator('.name')),
  )
  await shoot(page, 'tablet-long')
})

test('rows are lower on a wide page, and as wide as it; the browser remembers another choice', async () => {
  const viewport = { width: 1920, height: 1080 }
  await using console = await openConsole(browser, daemon.url, { viewport })
  const { page } = console
  const boxOf = async (id: number) => {
    await console.row(id).waitFor()
    return console.row(id).boundingBox()
  }
  const before = await boxOf(3)
  expect(before?.width).toBeGreaterThan(1800)
  const compact = console.button('Compact rows')
  expect(await compact.getAttribute('aria-pressed')).toBe('true')
  expect(await console.barriers()).toEqual([])
  await shoot(page, 'compact')

  await compact.click()
  const after = await boxOf(3)
  expect(Number(before?.height)).toBeLessThan(0.7 * Number(after?.height))
  await page.reload()
  await connect(page)
  expect((await boxOf(3))?.height).toBe(Number(after?.height))
  await compact.click()
  await page.reload()
  await connect(page)
  expect((await boxOf(3))?.height).toBe(Number(before?.height))
})

test('on a wide page the plants begin in the first 140 pixels', async () => {
  const viewport = { width: 1280, height: 800 }
  await using console = await openConsole(browser, daemon.url, { viewport })
  await console.row(3).waitFor()
  const first = await console.grid.locator('.rows .row').first().boundingBox()
  expect(first?.y).toBeLessThan(140)
})

test.each([390, 1280])(
  'at %i pixels, buttons and links are at least 24 pixels high',
  async (width) => {
    await using console = await openConsole(browser, daemon.url, {
      viewport: { width, height: 800 },
    })
    await console.row(3).waitFor()
    const heights = await console.page
      .locator('button, a')
      .evaluateAll((all) =>
        all
          .filter((element) => element.checkVisibility())
          .map((element) => element.getBoundingClientRect().height),
      )
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(24)
  },
)

test('a touch screen gets no compact rows', async () => {
  await using console = await openConsole(browser, daemon.url, {
    ...phone,
    viewport: { width: 1024, height: 768 },
  })
  await console.button('Shortcuts ?').waitFor()
  expect(await console.button('Compact rows').isVisible()).toBeFalse()
})

test('sentences begin with capital letters, in the reference too', async () => {
  await daemon.create(`{"id":900,"name":"Rosa"}`)
  await using console = await openConsole(browser, daemon.url, desktop)
  const { page } = console
  const isGrammatical = async () => expect(await console.smallBeginnings()).toEqual([])
  await console.row(3).waitFor()
  await isGrammatical()
  await console.search(`${MAX}0`)
  await page.getByText('ID: expected an integer').waitFor()
  await isGrammatical()
  await console.button('Add plant').click()
  await console.field('Name').fill('x'.repeat(10))
  await console.field('ID').fill('900')
  await console.button('Add').click()
  await page.getByText('This id belongs to a different plant', { exact: true }).waitFor()
  await isGrammatical()
  await console.button('Cancel').click()
  await console.row(6).click()
  await page.getByText('Changes are not recorded').waitFor()
  await isGrammatical()
  await console.field('File to import').setInputFiles({
    name: 'garden.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('id,name,bed\n900,Rosa,1\n901,,2\n902,Tulipa,2\n'),
  })
  await page.getByRole('cell', { name: 'Tulipa' }).waitFor()
  await isGrammatical()
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
  await page.getByText(/^Done: /).waitFor()
  await isGrammatical()

  await using reference = await visit(browser, `${daemon.url}/docs`, desktop)
  await reference.page.getByRole('heading', { name: 'Create a plant' }).waitFor()
  const limits = await reference.page.locator('.limit:not(:has(code))').allTextContents()
  expect(limits.length).toBeGreaterThan(10)
  expect(limits.filter((text) => /^\p{Ll}/u.test(text))).toEqual([])
  await using stranger = await visit(browser, daemon.url, desktop)
  await connect(stranger.page, 'pst_wrong_0123456789')
  await stranger.page.getByText('The token is unknown', { exact: false }).waitFor()
  expect(await stranger.smallBeginnings()).toEqual([])
})
