// The look of the console: barriers found by axe-core, narrow and enlarged pages, and pictures: `bun run test:browser`.
import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { root, runProgram, startDaemon, temporaryFolder } from '../../harness/daemon'
import { type ConsoleOptions, connect, MAX, openConsole, ownConsole, PHONE } from './console-page'
import { visit } from './visit'

const { daemon, createToken, revokeToken, browser, open } = ownConsole()

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

const desktop = { viewport: { width: 1280, height: 800 } }
const VIEWS: readonly (readonly [name: string, options: ConsoleOptions])[] = [
  ['light', desktop],
  ['dark', { ...desktop, colorScheme: 'dark' }],
  ['phone', PHONE],
  ['zoomed', { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
  ['contrast', { ...desktop, forcedColors: 'active', reducedMotion: 'reduce' }],
]

/** Returns true if nothing is wider than the page. */
const isNarrow = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)

describe.each(VIEWS)('%s', (name, options) => {
  test('the first page passes axe', async () => {
    await using visited = await visit(browser, daemon.url, options)
    await connect(visited.page, 'pst_wrong_0123456789')
    await visited.page.getByText('the token is unknown, expired or revoked').waitFor()

    expect(await visited.barriers()).toEqual([])
    expect(await isNarrow(visited.page)).toBeTrue()
  })

  test('the table, an undo, a form and an import pass axe', async () => {
    await using console = await open(options)
    const { page } = console
    await console.row(3).waitFor()
    await page.getByText('Healthy').waitFor()
    expect(await console.barriers()).toEqual([])
    expect(await isNarrow(page)).toBeTrue()
    await page.mouse.move(0, 0)

    const isPhone = (await console.button('Delete plant 3').count()) === 0
    if (isPhone) await console.button('Open plant 3').click()
    await console.button(isPhone ? 'Delete' : 'Delete plant 3').click()
    await console.button('Undo the deletion of plant 3').waitFor()
    expect(await console.barriers()).toEqual([])
    await console.button('Undo the deletion of plant 3').click()
    await console.row(3).waitFor()
    // Each view adds another plant.
    const id = 2_000_000 + VIEWS.findIndex(([view]) => view === name)
    const lines = `{"id":1,"name":"Rosa"}\nno JSON\n{"id":${id},"name":"Tulipa"}\n`
    await console.chooseFile('garden.ndjson', lines)
    await page.getByRole('cell', { name: 'Tulipa' }).waitFor()
    expect(await console.barriers()).toEqual([])
    expect(await isNarrow(page)).toBeTrue()
    await page.getByRole('button', { name: /^Import \d+ plants?$/ }).click()
    await page.getByText(/^Done: /).waitFor()
    expect(await console.barriers()).toEqual([])
    expect(await isNarrow(page)).toBeTrue()
    await console.button('Close').click()

    await console.row(5).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).first().click()
    expect(await console.barriers()).toEqual([])
    expect(await isNarrow(page)).toBeTrue()
    await page.keyboard.press('Escape')
    await console.button('Edit').click()
    await console.field('Name').fill('Mine')
    await daemon.fetch('/plants/5', { method: 'PATCH', json: { name: `Theirs, ${name}` } })
    await console.button('Save').click()
    await page.getByText('Someone else changed the name too.').waitFor()
    expect(await console.barriers()).toEqual([])
    await console.isClean()
  }, 60_000)
})

test('the screenshot for the README has plants by name, and the history of one', async () => {
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
  await page.screenshot({ path: join(root, 'dist/pictures/console.png') })
}, 60_000)

test('the form for another token passes axe', async () => {
  await using console = await open({
    token: await createToken('looks'),
  })
  await console.row(3).waitFor()
  await revokeToken('looks')
  await console.page.getByText('The token is no longer accepted').waitFor()

  expect(await console.barriers()).toEqual([])
})

test('rows are compact and full-width on a wide page; the browser remembers another choice', async () => {
  const viewport = { width: 1920, height: 1080 }
  await using console = await open({ viewport })
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

test.each([390, 1280])(
  'at %i pixels, buttons and links are at least 24 pixels high',
  async (width) => {
    await using console = await open({ viewport: { width, height: 800 } })
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
  await using console = await open({
    ...PHONE,
    viewport: { width: 1024, height: 768 },
  })
  await console.button('Shortcuts ?').waitFor()
  expect(await console.button('Compact rows').isVisible()).toBeFalse()
})
