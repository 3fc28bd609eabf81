// The accessibility of the console: `bun run test:browser`.
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { ownConsole } from './console-page'

const { daemon, open } = ownConsole()

const SPIDER_PLANT = 'نبتة العنكبوت'
const ORNAMENTAL = 'زينة'
beforeAll(async () => {
  await daemon.create('{"id":1,"name":"Boston fern","tag":"fern"}')
  await daemon.create(JSON.stringify({ id: 2, name: SPIDER_PLANT, tag: ORNAMENTAL }))
  await daemon.create('{"id":3,"name":"Moss"}')
})

const HEAD = `
- banner:
  - heading "plantstore connected" [level=1]
  - group: Healthy 3 plants Status ▾
  - navigation:
    - link "API reference":
      - /url: docs
    - button "Disconnect"
- main:
  - search:
    - searchbox "Search"
    - button "Tags"
  - button "Add plant"
  - button "Import…"
  - button "File to import"
  - button "Export"
  - button "Reload"`
const TABLE = `
  - grid "Plants":
    - row "Select all ID Name Tag Actions":
      - columnheader "Select all":
        - checkbox "Select all"
      - columnheader "ID":
        - button "ID"
      - columnheader "Name":
        - button "Name"
      - columnheader "Tag":
        - button "Tag"
      - columnheader "Actions"
    - rowgroup:
      - row "1, Boston fern, fern":
        - gridcell "Select 1":
          - checkbox "Select 1"
        - gridcell "1"
        - gridcell "Boston fern"
        - gridcell "fern":
          - button "fern"
        - gridcell "Edit plant 1 Delete plant 1":
          - button "Edit plant 1": Edit
          - button "Delete plant 1": Delete
      - row "2, ${SPIDER_PLANT}, ${ORNAMENTAL}":
        - gridcell "Select 2":
          - checkbox "Select 2"
        - gridcell "2"
        - gridcell "${SPIDER_PLANT}"
        - gridcell "${ORNAMENTAL}":
          - button "${ORNAMENTAL}"
        - gridcell "Edit plant 2 Delete plant 2":
          - button "Edit plant 2": Edit
          - button "Delete plant 2": Delete
      - row "3, Moss, no tag":
        - gridcell "Select 3":
          - checkbox "Select 3"
        - gridcell "3"
        - gridcell "Moss"
        - gridcell "no tag"
        - gridcell "Edit plant 3 Delete plant 3":
          - button "Edit plant 3": Edit
          - button "Delete plant 3": Delete`
const PANEL = `
  - dialog "Plant 1":
    - paragraph: ID 1
    - button "Previous plant" [disabled]: ↑
    - button "Next plant": ↓
    - button "Close": ×
    - heading "Boston fern" [level=2]
    - button "fern"
    - button "Edit"
    - button "Duplicate"
    - button "Delete"
    - button "Copy"
    - paragraph:
      - text: "Changes are not recorded: plantstore runs without"
      - code: "--keep-changes"
      - text: . With it, this page has a history, and the table shows what others do.`
const FORM = `
  - dialog "Edit plant 1":
    - heading "Edit plant 1" [level=2]
    - button "Previous plant" [disabled]: ↑
    - button "Next plant": ↓
    - button "Close": ×
    - text: Name
    - textbox "Name": Boston fern
    - text: Tag
    - combobox "Tag": fern
    - paragraph: The kind of plant, such as fern. Leave empty for none.
    - button "Save"
    - button "Cancel"`
const FOOT = `
  - paragraph:
    - status
  - button "Compact rows" [pressed]
  - button "Shortcuts ?"
- status`

test('a screen reader reads names and roles in the order of the page', async () => {
  await using console = await open()
  const { page } = console
  const read = async () => `\n${await page.locator('body').ariaSnapshot()}`
  await page.getByText('Healthy').waitFor()
  await console.row(1).click()
  await page.getByText('Changes are not recorded').waitFor()
  expect(await read()).toBe(HEAD + TABLE + PANEL + FOOT)

  await console.button('Edit').click()
  await console.field('Name').waitFor()
  expect(await read()).toBe(HEAD + TABLE + FORM + FOOT)
})

describe('the reduced motion setting', () => {
  /** Returns the elements that have an animation, a transition or smooth scrolling. */
  const moving = (page: Page): Promise<string[]> =>
    page.evaluate(() =>
      [...document.querySelectorAll('*')]
        .filter((element) => {
          const { transitionDuration, animationDuration, scrollBehavior } =
            getComputedStyle(element)
          const durations = `${transitionDuration}, ${animationDuration}`.split(', ')
          return (
            scrollBehavior === 'smooth' ||
            durations.some((duration) => Number.parseFloat(duration) > 0)
          )
        })
        .map(({ localName }) => localName),
    )

  test.each([
    ['reduce', []],
    ['no-preference', ['button']],
  ] as const)('%s lets only %j elements move', async (reducedMotion, expected) => {
    await using console = await open({ reducedMotion })
    const { page } = console
    await console.row(1).click()
    await console.button('Edit').click()
    await console.field('Name').waitFor()
    expect([...new Set(await moving(page))]).toEqual([...expected])
  })
})

describe('in forced colours', () => {
  async function openForced() {
    const console = await open({ forcedColors: 'active' })
    await console.row(2).waitFor()
    return console
  }

  /** Fails unless `act` visibly changes a part of the page. */
  async function shows(part: Locator, act: () => Promise<unknown>): Promise<void> {
    const before = await part.screenshot()
    await act()
    await part.page().mouse.move(0, 0)
    expect((await part.screenshot()).equals(before)).toBeFalse()
  }

  test('a pressed button is distinct', async () => {
    await using console = await openForced()
    const compact = console.button('Compact rows')
    await shows(compact, async () => {
      await compact.click()
      await console.grid.focus()
    })
  })

  test('the chosen suggestion is distinct', async () => {
    await using console = await openForced()
    const { page } = console
    await console.button('Add plant').click()
    await console.field('Tag').press('ArrowDown')
    await shows(page.getByRole('option', { name: ORNAMENTAL }), async () => {
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
    })
  })

  test('the active row and the open plant are distinct', async () => {
    await using console = await openForced()
    const { page } = console
    await console.grid.focus()
    await shows(console.row(2), () => page.keyboard.press('ArrowDown'))
    await page.keyboard.press('Enter')
    await page.getByText('Changes are not recorded').waitFor()
    await console.grid.focus()
    await page.keyboard.press('ArrowUp')
    await shows(console.row(2), async () => {
      await console.button('Previous plant').click()
      await page.getByRole('dialog', { name: 'Plant 1' }).waitFor()
    })
  })
})

describe('from right to left', () => {
  test('a name and a tag run from right to left, and align with the others', async () => {
    await using console = await open()
    const cell = console.row(2).locator('.name')
    await cell.waitFor()
    /** Returns the direction of a text, and its left and right edges. */
    const textOf = (part: Locator) =>
      part.evaluate((element) => {
        const range = document.createRange()
        range.selectNodeContents(element)
        const { left, right } = range.getBoundingClientRect()
        return { direction: getComputedStyle(element).direction, left, right }
      })
    const [boston, spider] = [await textOf(console.row(1).locator('.name')), await textOf(cell)]
    expect(spider).toMatchObject({ direction: 'rtl', left: boston.left })
    expect((await textOf(console.row(2).locator('.chip'))).direction).toBe('rtl')
    await console.row(2).click()
    expect((await textOf(console.page.getByRole('dialog').locator('h2'))).direction).toBe('rtl')
    await console.button('Edit').click()
    expect((await textOf(console.field('Name'))).direction).toBe('rtl')

    // A translation of the page into Arabic sets this direction.
    await console.page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    expect((await textOf(console.row(1).locator('.name'))).right).toBe((await textOf(cell)).right)
  })

  test('in a mirrored page, the parts of a row do not overlap', async () => {
    await using console = await open()
    await console.page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    await console.row(1).hover()
    const parts = await console
      .row(1)
      .locator('input, .id, .name, .chip, button')
      .evaluateAll((all) => all.map((element) => element.getBoundingClientRect().toJSON()))
    const edges = parts.filter(({ width }) => width > 0).flatMap(({ left, right }) => [right, left])
    expect(edges).toHaveLength(12)
    expect(edges).toEqual(edges.toSorted((a, b) => b - a))
  })
})
