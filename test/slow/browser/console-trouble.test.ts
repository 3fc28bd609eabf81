// Failures while the console is open, in a real Chromium: `bun run test:browser`.
import { beforeAll, describe, expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { startDaemon, temporaryFolder } from '../../harness/daemon'
import { connect, openConsole, openStore, ownConsole } from './console-page'

// Chromium logs this for a request without a response.
const NO_ANSWER = /^Failed to load resource: net::ERR_/

const { daemon, stored, createToken, revokeToken, browser, open } = ownConsole()

beforeAll(async () => {
  for (let id = 1; id <= 40; id++) await daemon.create(`{"id":${id},"name":"plant ${id}"}`)
})

test('a revoked token stops an import until there is another token', async () => {
  await using console = await open({ token: await createToken('importer') })
  const { page } = console
  const text = Array.from({ length: 40_000 }, (_, i) => `{"id":${i + 1000},"name":"p ${i}"}\n`)
  let batches = 0
  await page.route('**/plants/batch', async (route) => {
    batches += 1
    if (batches === 5) await revokeToken('importer')
    await route.continue()
  })
  await console.chooseFile('plants.ndjson', text.join(''))
  await page.getByText('Waiting; it resumes by itself.').waitFor()
  await connect(page)
  await page
    .getByText(
      /^Done: created [\d,]+, (skipped [\d,]+ \(already stored\), )?refused 0; 40,000 rows read/,
    )
    .waitFor()

  expect(stored(1000n)?.name).toBe('p 0')
  expect(stored(40_999n)?.name).toBe('p 39999')
  await console.isClean()
}, 120_000)

test('the page waits for a daemon that restarts, and then stores the typed text', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const first = await startDaemon({ database, args: ['--keep-changes', '1d'] })
  await first.create('{"id":1,"name":"Fern"}')
  await first.create('{"id":2,"name":"Monstera","tag":"aroid"}')
  await using console = await openConsole(browser, first.url)
  const { page } = console
  await page.getByText('Healthy').waitFor()
  await page.getByText('Updates live').waitFor()
  await console.button('Edit plant 1').click()
  await console.field('Name').fill('Tree fern')
  await first.kill()

  await page.getByRole('alert').getByText('No response, retrying…').waitFor()
  await page
    .getByRole('alert')
    .getByText(/^since .* Check that plantstore runs/)
    .waitFor()
  expect(await page.title()).toBe('⚠ No response – plantstore')
  expect(await page.getByText('Updates live').count()).toBe(0)
  await page.getByText('Last backup').waitFor()
  expect(await console.barriers()).toEqual([])
  await console.button('Save').click()
  await page.getByText('1 edit not saved yet; retrying').waitFor()
  await console.row(1).getByText('Tree fern').waitFor()
  expect(await console.barriers()).toEqual([])
  await using second = await startDaemon({ database, args: ['--port', String(first.port)] })
  await page.getByText('Healthy').waitFor()
  expect(await page.getByText('No response').count()).toBe(0)
  await page.getByText('Updates live').waitFor()
  await page.getByText('Last backup').waitFor({ state: 'hidden' })
  expect(await page.title()).toBe('plantstore')
  await console.row(1).locator('[data-unsaved]').waitFor({ state: 'detached' })

  expect(await (await second.fetch('/plants/1')).json()).toEqual({ id: 1, name: 'Tree fern' })
  const complaints = await console.complaints()
  expect(complaints.filter((line) => !NO_ANSWER.test(line))).toEqual([])
  expect(await console.row(1).count()).toBe(1)
})

test('a database that refuses writes is shown with the reason; typed text is stored once it recovers', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await using ailing = await startDaemon({ database })
  await ailing.create('{"id":1,"name":"Fern"}')
  await using console = await openConsole(browser, ailing.url)
  const { page } = console
  await page.getByText('Healthy').waitFor()
  await console.button('Edit plant 1').click()
  await console.field('Name').fill('Tree fern')
  // A daemon whose file was moved refuses writes until it is restarted.
  renameSync(database, `${database}.moved`)
  await ailing.create('{"id":2,"name":"filler"}')

  await page.getByRole('alert').getByText('Cannot write', { exact: true }).waitFor()
  await page.getByText(/^since .* Writes are refused/).waitFor()
  expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('console/icon-outage.svg')
  await console.button('Save').click()
  await page.getByText('1 edit not saved yet; retrying').waitFor()
  await ailing.kill()
  renameSync(`${database}.moved`, database)
  await using mended = await startDaemon({ database, args: ['--port', String(ailing.port)] })
  await page.getByText('Healthy').waitFor()
  await page.getByText('Plant 1 was changed').waitFor()

  expect(await (await mended.fetch('/plants/1')).json()).toEqual({ id: 1, name: 'Tree fern' })
  const complaints = await console.complaints()
  expect(
    complaints.filter((line) => !/status of 50[37]/.test(line) && !NO_ANSWER.test(line)),
  ).toEqual([])
})

describe('with a change log', () => {
  const openLog = (lines: string) => openStore(browser, lines, ['--keep-changes', '1d'])

  test('a search and a selection follow changes by others', async () => {
    await using console = await openLog('{"id":1,"name":"Fern"}\n')
    const { page, daemon } = console
    await page.getByText('Updates live').waitFor()
    await console.search('fern')
    await page.getByText('1 plant found').waitFor()
    await daemon.create('{"id":3,"name":"Rose"}')
    await daemon.create('{"id":4,"name":"Fern of another"}')
    await console.row(4).waitFor()
    expect(await console.row(3).count()).toBe(0)
    await page.getByRole('checkbox', { name: 'Select all' }).click()
    await page.getByText('All 2 selected').waitFor()
    await daemon.fetch('/plants/4', { method: 'DELETE' })
    await console.row(4).waitFor({ state: 'detached' })
    await page.getByText('1 selected', { exact: true }).waitFor()
    await console.isClean()
  })

  test('an empty history says so until there is a change', async () => {
    await using console = await openLog('{"id":1,"name":"Fern"}\n')
    const { daemon } = console
    await console.row(1).click()
    await console.page.getByText('No change of this plant is recorded.').waitFor()
    await daemon.fetch('/plants/1', { method: 'PATCH', json: { name: 'Rose' } })
    await console.page.getByText('name: Fern → Rose').waitFor()
    expect(await console.page.getByText(/^No change/).count()).toBe(0)
  })

  test('a plant has a history, and an earlier version can be restored', async () => {
    await using console = await openLog('')
    await console.daemon.create('{"id":1,"name":"Fern","tag":"old"}')
    await console.daemon.fetch('/plants/1', { method: 'PUT', json: { name: 'Tree fern' } })
    await console.row(1).click()
    const versions = console.page.getByRole('list', { name: 'History' }).getByRole('listitem')
    await versions.filter({ hasText: 'Created as Fern, tag old' }).waitFor()
    expect(await versions.first().getByRole('paragraph').allTextContents()).toEqual([
      'Name: Fern → Tree fern',
      'Tag: old → none',
      expect.stringMatching(/ by \S+$/),
    ])
    expect(await versions.count()).toBe(2)
    expect(await console.barriers()).toEqual([])
    await console.button('Restore this version').click()
    await console.page.getByText('Changed plant 1; Ctrl+Z undoes it').waitFor()
    await versions.filter({ hasText: 'Name: Tree fern → Fern' }).waitFor()
    await console.page.getByRole('heading', { name: 'Fern', exact: true }).waitFor()
    expect(await (await console.daemon.fetch('/plants/1')).json()).toEqual({
      id: 1,
      name: 'Fern',
      tag: 'old',
    })
    await console.isClean()
  })
})

const undo = (id: number) => `Undo the deletion of plant ${id}`

test('two quick clicks on Delete remove one plant', async () => {
  await using console = await open()
  await console.button('Delete plant 10').dblclick()
  await console.button(undo(10)).waitFor()

  await console.row(11).waitFor()
  await console.button(undo(10)).click()
  await console.row(10).waitFor()
  expect(stored(11n)).toBeDefined()
  await console.isClean()
})
