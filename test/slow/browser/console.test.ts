// The console in a real Chromium, action by action: `bun run test:browser`.
import { beforeAll, describe, expect, test } from 'bun:test'
import { startDaemon, TOKEN, temporaryFolder } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'
import { connect, MAX, MIN, openConsole, ownBrowser, primaryButtons } from './console-page'
import { startPrefixProxy } from './prefix-proxy'
import { visit } from './visit'

const { daemon, stored, createToken } = ownDaemon()
const browser = ownBrowser()

const open = () => openConsole(browser, daemon.url)
const create = (id: string | number, name: string, tag?: string) =>
  daemon.create(`{"id":${id},${JSON.stringify({ name, tag }).slice(1)}`)

beforeAll(async () => {
  await create(MIN, 'The first of all')
  await create(MAX, 'The last of all', 'end')
  for (let id = 1; id <= 700; id++)
    await create(id, `plant ${id}`, id % 7 === 0 ? 'seventh' : undefined)
})

describe('the token', () => {
  test('is kept in the memory of the page only', async () => {
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

  test('is kept in the tab on request: over a reload and in the API reference, until Disconnect', async () => {
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
    expect(
      await reference.getByRole('checkbox', { name: 'Keep in this tab' }).isChecked(),
    ).toBeTrue()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await field.waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(await visited.complaints()).toEqual([])
  })

  test('is refused beside its field if it is unknown, in the words of the service', async () => {
    await using visited = await visit(browser, daemon.url)
    const { page } = visited

    await connect(page, 'pst_unknown_to_the_service')

    await page.getByText('The token is unknown, expired or revoked').waitFor()
    const described = await page
      .getByLabel('Token', { exact: true })
      .getAttribute('aria-describedby')
    expect(await page.locator(`#${described}`).textContent()).toBe(
      'The token is unknown, expired or revoked',
    )
    await connect(page, 'not a token ⚠')
    await page.getByText('a token has only letters, digits').waitFor()
    await connect(page)
    await page.getByRole('grid').waitFor()
    expect(await visited.complaints()).toEqual([])
  })

  test('is forgotten by Disconnect', async () => {
    await using console = await open()
    await console.button('Disconnect').click()

    await console.field('Token').waitFor()
    expect(await console.grid.count()).toBe(0)
    await connect(console.page)
    await console.row(1).waitFor()
    await console.isClean()
  })

  test('is masked, and a password manager can fill it in', async () => {
    await using visited = await visit(browser, daemon.url)
    for (const address of [daemon.url, `${daemon.url}/docs`]) {
      await visited.page.goto(address)
      const field = visited.page.getByLabel('Token', { exact: true })
      const kind = field.evaluate((element: HTMLInputElement) => [
        element.type,
        element.autocomplete,
      ])
      expect(await kind).toEqual(['password', 'current-password'])
    }
  })

  test('moves the focus to the heading of the page, and Disconnect moves it back to the field', async () => {
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
})

describe('the table', () => {
  test('shows id, name and tag, from one end of int64 to the other', async () => {
    await using console = await open()
    const { page, grid } = console
    await console.row(7).waitFor()

    expect((await console.rows())[0]).toEqual([MIN, 'The first of all', ''])
    expect(await console.row(7).getByRole('gridcell').allTextContents()).toEqual([
      '',
      '7',
      'plant 7',
      'seventh',
      '›EditDelete',
    ])
    await grid.focus()
    await page.keyboard.press('End')
    await console.row(MAX).waitFor()
    expect((await console.rows()).at(-1)).toEqual([MAX, 'The last of all', 'end'])
    await page.getByText('702 plants', { exact: true }).waitFor()
    await console.isClean()
  })

  test('loads further pages as one scrolls', async () => {
    await using console = await open()
    const { page, grid } = console
    await page.getByText('702 plants', { exact: true }).waitFor()
    await grid.hover()

    const scroller = grid.locator('.scroller')
    const position = () => scroller.evaluate((element) => element.scrollTop)
    while ((await console.row(600).count()) === 0) {
      const before = await position()
      await page.mouse.wheel(0, 400)
      // At the end of what is loaded, it goes on once there is more.
      for (let wait = 0; wait < 50 && (await position()) === before; wait++)
        await page.waitForTimeout(20)
    }

    expect((await console.rows()).length).toBeLessThan(60)
  })

  test('does not undo a scroll whose event has not arrived yet', async () => {
    await using console = await open()
    const { page, grid } = console
    await page.getByText('702 plants', { exact: true }).waitFor()
    const scroller = grid.locator('.scroller')

    await scroller.evaluate(async (element) => {
      // The work of the table after scrolling, at the worst moment: between a scroll and its event.
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

  test('finds a plant by its id, exactly', async () => {
    await using console = await open()
    for (const [id, name] of [
      [MIN, 'The first of all'],
      [MAX, 'The last of all'],
      ['123', 'plant 123'],
    ]) {
      await console.search(` ${id} `)
      await console.row(String(id)).waitFor()
      await console.page.getByText('The plant with this ID').waitFor()
      expect(await console.rows()).toEqual([[String(id), String(name), expect.any(String)]])
    }
    await console.button('Show all plants').click()
    await console.row(3).waitFor()
    await console.isClean()
  })

  test('says that no plant has an id, and offers to look for it in the names', async () => {
    await using console = await open()
    await console.search('77')
    await console.row(77).waitFor()
    await console.search('9999')
    await console.page.getByText('No plant has the ID 9999.').waitFor()
    await console.button('Search the names for 9999').click()
    await console.page.getByText('No plant has 9999 in its name.').waitFor()
    await console.isClean()
  })

  test('says beside the box that an id is beyond int64, and leaves the table as it is', async () => {
    await using console = await open()
    await console.row(1).waitFor()
    await console.search('9223372036854775808')

    const alert = console.page.getByRole('search').getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toBe(`ID: expected an integer from ${MIN} to ${MAX}`)
    expect(await console.field('Search').getAttribute('aria-invalid')).toBe('true')
    expect(await console.row(1).count()).toBe(1)
    await console.isClean()
  })

  test('shows plants by a part of their names, in either case, from the box that / focuses', async () => {
    await using console = await open()
    await console.row(1).waitFor()
    await console.page.keyboard.press('/')
    await console.page.keyboard.type('PLANT 70')
    await console.page.keyboard.press('Enter')
    await console.page.getByText(/^2 plants found/).waitFor()
    expect(await console.rows()).toEqual([
      ['70', 'plant 70', 'seventh'],
      ['700', 'plant 700', 'seventh'],
    ])
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

  test('shows plants by a tag that is typed or pressed', async () => {
    await using console = await open()
    await console.search('tag:seventh')
    await console.page.getByText('100 plants found', { exact: true }).waitFor()
    expect((await console.rows()).every(([, , tag]) => tag === 'seventh')).toBeTrue()

    await console.button('Show all plants').click()
    await console.row(14).getByRole('button', { name: 'seventh' }).click()
    await console.page.getByText('100 plants found', { exact: true }).waitFor()
    await console.button('Remove Tag seventh').waitFor()

    await console.search('tag:<none>')
    await console.page.getByText('No plant has the tag <none>.').waitFor()
    await console.isClean()
  })
})

describe('a plant', () => {
  test('is added; if it is refused, the message is beside the field', async () => {
    await using console = await open()
    const { page } = console
    await console.row(1).waitFor()
    const message = async (text: string) => {
      const alert = page.getByRole('dialog').getByRole('alert')
      await alert.filter({ hasText: text }).waitFor()
      const described = await console.field('ID').getAttribute('aria-describedby')
      expect(await page.locator(`#${described}`).textContent()).toBe(text)
    }
    await console.button('Add plant').click()
    await console.field('Name').fill('Fern')
    await console.field('ID').fill('')
    await console.button('Add').click()
    await message('ID is missing')
    await console.field('ID').fill('9223372036854775808')
    await console.button('Add').click()
    await message(`ID: expected an integer from ${MIN} to ${MAX}`)
    await console.field('ID').fill('5')
    await console.button('Add').click()
    await message('This id belongs to a different plant, “plant 5”')
    await console.field('ID').fill('-9223372036854775807')
    await console.field('Tag').fill('fern')
    await console.button('Add').click()

    await page.getByText('Plant -9223372036854775807 was created').waitFor()
    expect(stored(-9223372036854775807n)).toEqual({
      id: -9223372036854775807n,
      name: 'Fern',
      tag: 'fern',
    })
    expect((await console.rows())[1]).toEqual(['-9223372036854775807', 'Fern', 'fern'])
    await console.isClean()
  })

  test('is not lost to Escape while it is typed', async () => {
    await using console = await open()
    const { page } = console
    await console.button('Edit plant 2').click()
    await console.field('Name').fill('half typed')
    await page.keyboard.press('Escape')
    await page.getByText('Discard what you typed?').waitFor()
    await console.button('Keep editing').click()
    expect(await console.field('Name').inputValue()).toBe('half typed')
    await page.keyboard.press('Escape')
    await console.button('Discard').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(stored(2n)?.name).toBe('plant 2')
    await console.isClean()
  })

  test('is edited: only what was touched changes', async () => {
    await create(801, 'two\r\nlines', 'old')
    await using console = await open()
    const { page } = console
    await console.search('801')
    await console.button('Edit plant 801').click()
    await console.field('Tag').fill('')
    await console.button('Save').click()
    await page.getByText('Plant 801 was changed').waitFor()
    expect(stored(801n)).toEqual({ id: 801n, name: 'two\r\nlines', tag: null })

    await console.button('Edit plant 801').click()
    await console.field('Name').fill('one line')
    await console.field('Tag').fill('new')
    await console.button('Save').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await console.row(801).getByText('one line').waitFor()
    // The page saves behind what it shows.
    await until('the change', () => stored(801n)?.name === 'one line')
    expect(stored(801n)).toEqual({ id: 801n, name: 'one line', tag: 'new' })
    await console.isClean()
  })

  test.each([
    '<img src=x onerror=alert(1)><b>bold</b>',
    '"><script>alert(1)</script>',
    'نبتة العنكبوت (خضراء)',
    '‮evil‬ ordering',
    '🌵 👩‍🌾 🪴🏽',
  ])('is shown as text: %s', async (name) => {
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
  })

  test('is added, found, edited, deleted and kept by the keyboard alone', async () => {
    await using visited = await visit(browser, daemon.url)
    const { page } = visited
    const { keyboard } = page
    const tabTo = async (name: string) => {
      for (let tries = 0; tries < 40; tries++) {
        const focused = await page.evaluate(() => {
          const element = document.activeElement
          return element?.getAttribute('aria-label') ?? element?.textContent ?? ''
        })
        if (focused === name) return
        await keyboard.press('Tab')
      }
      throw new Error(`no Tab leads to ${name}`)
    }
    await page.waitForFunction(() => document.activeElement?.id === 'token')
    await keyboard.type(TOKEN)
    await keyboard.press('Enter')
    await page.getByRole('row', { name: 'The first of all' }).waitFor()

    await tabTo('Add plant')
    await keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Add a plant' }).waitFor()
    await keyboard.type('Keyed')
    await keyboard.press('Tab')
    await keyboard.press('Tab')
    await keyboard.type('-50')
    await keyboard.press('Enter')
    await page.getByText('Plant -50 was created').waitFor()
    expect(stored(-50n)?.name).toBe('Keyed')

    await tabTo('Plants')
    // Behind the first one, and perhaps one that another test made.
    for (let row = 0; row < 4; row++) {
      const id = await page.locator('[data-active] .id').textContent()
      if (id === '-50') break
      await keyboard.press('ArrowDown')
    }
    await keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Plant -50' }).waitFor()
    await tabTo('Edit')
    await keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Edit plant -50' }).waitFor()
    await keyboard.press('End')
    await keyboard.type(' in')
    await keyboard.press('Enter')
    await page.getByText('Plant -50 was changed').waitFor()
    expect(stored(-50n)?.name).toBe('Keyed in')
    await page.getByRole('heading', { name: 'Keyed in' }).waitFor()
    await keyboard.press('Escape')

    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'grid')
    await keyboard.press('Delete')
    await page.getByRole('button', { name: 'Undo the deletion of plant -50' }).waitFor()
    await keyboard.press('Control+z')
    await page.getByText('Undid the deletion of plant -50').waitFor()
    await keyboard.press('Delete')
    await tabTo('Undo the deletion of plant -50')
    await keyboard.press('Enter')
    await page.getByText('Undid the deletion of plant -50').waitFor()
    expect(stored(-50n)?.name).toBe('Keyed in')
    await keyboard.press('Escape')
    expect(await visited.complaints()).toEqual([])
  })
})

test('an empty store offers to add, to import and a command that runs', async () => {
  using folder = temporaryFolder()
  await using empty = await startDaemon({ database: folder.file('plants.db') })
  await using console = await openConsole(browser, empty.url)
  const { page } = console
  const heading = page.getByRole('heading', { name: 'No plants yet' })
  await heading.waitFor()
  expect(await console.barriers()).toEqual([])

  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    console.button('Import a file…').click(),
  ])
  expect(chooser.isMultiple()).toBeTrue()
  await console.button('Add the first plant').click()
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#id')?.value === '1')
  await console.field('ID').fill('2')
  await console.field('Name').fill('Ficus')
  await console.button('Add').click()
  await console.row(2).waitFor()
  expect(await heading.count()).toBe(0)
  await console.isClean()

  await using other = await openConsole(browser, empty.url)
  await other.row(2).waitFor()
  await empty.fetch('/plants/2', { method: 'DELETE' })
  await other.button('Reload').click()
  await other.page.getByText('From a terminal').click()
  const command = await other.page.locator('pre').textContent()
  const { stdout } = Bun.spawnSync(['sh', '-c', `${command} -s`], {
    env: { PATH: Bun.env.PATH, TOKEN },
  })
  expect(stdout.toString()).toBe('{"name":"Monstera deliciosa","tag":"aroid"}')
})

test('plants that cannot be read are a sentence, with a button to try again', async () => {
  await using console = await openConsole(browser, daemon.url)
  const { page } = console
  await console.row(MIN).waitFor()
  const body = '{"error":50001,"message":"internal error"}'
  await page.route('**/plants?*', (route) =>
    route.fulfill({ status: 500, contentType: 'application/json', body }),
  )
  await console.button('Reload').click()
  const alert = page.getByRole('alert')
  await alert.getByText('Cannot read the plants: internal error.').waitFor()
  expect(await console.barriers()).toEqual([])
  const isAsked = page.waitForRequest('**/plants?*')
  await console.button('Retry').click()
  await isAsked
  await page.unroute('**/plants?*')
  await alert.waitFor({ state: 'detached' })
  await console.row(MIN).waitFor()
})

test('an idle tab takes less than 60 kB a minute', async () => {
  await using console = await openConsole(browser, daemon.url)
  await console.row(MIN).waitFor()
  const network = await console.page.context().newCDPSession(console.page)
  let bytes = 0
  let answers = 0
  network.on('Network.responseReceived', ({ response }) => {
    bytes += response.encodedDataLength
    answers += 1
  })
  network.on('Network.dataReceived', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await network.send('Network.enable')
  await console.page.waitForTimeout(10_000)

  expect(answers).toBeGreaterThan(2)
  expect(bytes * 6).toBeLessThan(60_000)
})

test('a view has one primary button: that of the form, if one is open', async () => {
  await using console = await openConsole(browser, daemon.url)
  await console.row(MIN).waitFor()
  expect(await primaryButtons(console.page)).toEqual(['Add plant'])
  await console.button(`Edit plant ${MIN}`).click()
  await console.field('Name').waitFor()
  expect(await primaryButtons(console.page)).toEqual(['Save'])
})

test('? shows the keys, those of changes to who may change', async () => {
  await using console = await openConsole(browser, daemon.url)
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
  await using reader = await openConsole(browser, daemon.url, { token })
  await reader.page.keyboard.press('?')
  await reader.page.getByText('Move in the table').waitFor()
  expect(await reader.page.getByText('Add a plant').count()).toBe(0)
})

test('on a phone, one menu has the less urgent actions', async () => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
  await using console = await openConsole(browser, daemon.url, phone)
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

  expect(console.requests().filter((url) => !url.startsWith(`${proxy.url}/garden/`))).toEqual([])
  const docs = console.page.getByRole('link', { name: 'API reference' })
  expect(await docs.evaluate((element) => (element as HTMLAnchorElement).href)).toBe(
    `${proxy.url}/garden/docs`,
  )
  await console.isClean()
})
