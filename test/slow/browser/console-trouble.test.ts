// Failures while the console is open, in a real Chromium: `bun run test:browser`.
import { beforeAll, describe, expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { startDaemon, TOKEN, temporaryFolder } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { until } from '../../harness/until'
import { connect, openConsole, ownBrowser } from './console-page'

// Chromium's own console message for a request without an answer.
const NO_ANSWER = /^Failed to load resource: net::ERR_/

const { daemon, stored, createToken, revokeToken } = ownDaemon()
const browser = ownBrowser()

const open = (token = TOKEN) => openConsole(browser, daemon.url, { token })
const put = (id: number, name: string) =>
  daemon.fetch(`/plants/${id}`, { method: 'PUT', json: { name } })

beforeAll(async () => {
  for (let id = 1; id <= 40; id++) await daemon.create(`{"id":${id},"name":"plant ${id}"}`)
})

describe('a token', () => {
  test('leads back to its field when it is revoked, and typed text is not lost', async () => {
    await using console = await open(await createToken('revoked'))
    const { page } = console
    await console.button('Edit plant 3').click()
    await console.field('Name').fill('typed before')
    await revokeToken('revoked')

    const dialog = page.getByRole('dialog', { name: 'The token is no longer accepted' })
    await dialog.getByText('the token is unknown, expired or revoked').waitFor()
    await connect(page)
    await dialog.waitFor({ state: 'detached' })
    expect(await console.field('Name').inputValue()).toBe('typed before')
    await console.button('Save').click()
    await page.getByText('Plant 3 was changed').waitFor()
    expect(stored(3n)?.name).toBe('typed before')
    await console.isClean()
  })

  test('stops an import when it is revoked, until there is another token', async () => {
    await using console = await open(await createToken('importer'))
    const { page } = console
    const text = Array.from({ length: 40_000 }, (_, i) => `{"id":${i + 1000},"name":"p ${i}"}\n`)
    let batches = 0
    await page.route('**/plants/batch', async (route) => {
      batches += 1
      if (batches === 5) await revokeToken('importer')
      await route.continue()
    })
    await console.field('File to import').setInputFiles({
      name: 'plants.ndjson',
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from(text.join('')),
    })
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

  test('with read scope gets no controls for changes, from the start', async () => {
    await using console = await open(await createToken('reader', '--scope', 'read'))
    await console.page.getByText('read-only token').waitFor()
    await console.row(5).waitFor()

    for (const name of ['Add plant', 'Import…', 'Edit plant 5', 'Delete plant 5']) {
      expect(await console.button(name).count()).toBe(0)
    }
    await console.isClean()
  })
})

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

test('plants that are tagged while a daemon is restarted all get their tag', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const first = await startDaemon({ database })
  const ids = Array.from({ length: 14 }, (_, at) => at + 1)
  for (const id of ids) await first.create(`{"id":${id},"name":"Fern"}`)
  await using console = await openConsole(browser, first.url)
  const { page } = console
  await page.getByRole('checkbox', { name: 'Select 1', exact: true }).check()
  await page
    .getByRole('checkbox', { name: 'Select 14', exact: true })
    .click({ modifiers: ['Shift'] })
  await console.field('Tag for all of them').fill('shade')
  await first.kill()
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('No response, retrying…').waitFor()
  await using second = await startDaemon({ database, args: ['--port', String(first.port)] })

  await page.getByText('Set the tag “shade” on 14 plants').waitFor()
  const answer = await second.fetch('/plants?tag=shade&limit=100')
  expect(((await answer.json()) as { plants: unknown[] }).plants).toHaveLength(14)
})

test('a database that refuses writes is shown with the reason, and typed text is stored after it recovers', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await using ailing = await startDaemon({ database })
  await ailing.create('{"id":1,"name":"Fern"}')
  await using console = await openConsole(browser, ailing.url)
  const { page } = console
  await page.getByText('Healthy').waitFor()
  await console.button('Edit plant 1').click()
  await console.field('Name').fill('Tree fern')
  // A daemon whose file was moved refuses writes until it is started again.
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

describe('two people at one plant', () => {
  test('keep both changes if they change different fields, and the second is told', async () => {
    await using console = await open()
    await console.button('Edit plant 9').click()
    await console.field('Tag').fill('mine')
    await put(9, 'theirs')
    await console.button('Save').click()
    await console.page
      .getByText('Plant 9 was changed; the name that someone else saved was kept')
      .waitFor()
    expect(stored(9n)).toEqual({ id: 9n, name: 'theirs', tag: 'mine' })
    await console.isClean()
  })

  test('are asked only about a field that both changed; the other field stays as it was saved', async () => {
    await using console = await open()
    await console.button('Edit plant 10').click()
    await console.field('Tag').fill('mine')
    await daemon.fetch('/plants/10', { method: 'PUT', json: { name: 'theirs', tag: 'theirs too' } })
    await console.button('Save').click()
    await console.page.getByText('Someone else changed the tag too.').waitFor()
    expect(await console.field('Name').inputValue()).toBe('theirs')
    await console.button('Save mine').click()
    await console.page.getByText('Plant 10 was changed').waitFor()
    expect(stored(10n)).toEqual({ id: 10n, name: 'theirs', tag: 'mine' })
    await console.isClean()
  })

  test('are told when one of them deletes it, and the row goes', async () => {
    await using console = await open()
    await console.button('Edit plant 12').click()
    await console.field('Name').fill('too late')
    await daemon.fetch('/plants/12', { method: 'DELETE' })
    await console.button('Save').click()
    await console.page.getByText('This plant was deleted elsewhere.').waitFor()
    expect(await console.field('Name').inputValue()).toBe('too late')
    expect(await console.row(12).count()).toBe(0)
    await console.isClean()
  })

  test('may keep either version: the second to save sees the first', async () => {
    await using console = await open()
    const { page } = console
    const dialog = page.getByRole('dialog', { name: 'Edit plant 7' })
    await console.button('Edit plant 7').click()
    await console.field('Name').fill('mine')
    await put(7, 'theirs <b>')
    await console.button('Save').click()

    await dialog.getByText('Someone else changed the name too.').waitFor()
    await dialog.getByText('theirs <b>', { exact: true }).waitFor()
    expect(stored(7n)?.name).toBe('theirs <b>')
    await put(7, 'theirs again')
    await console.button('Save mine').click()
    await dialog.getByText('theirs again', { exact: true }).waitFor()
    await console.button('Save mine').click()
    await page.getByText('Plant 7 was changed').waitFor()
    expect(stored(7n)?.name).toBe('mine')

    await console.button('Edit plant 7').click()
    await console.field('Name').fill('mine again')
    await put(7, 'theirs at last')
    await console.button('Save').click()
    await console.button('Use theirs').click()
    expect(await console.field('Name').inputValue()).toBe('theirs at last')
    await console.button('Save').click()
    await dialog.waitFor({ state: 'detached' })
    expect(stored(7n)?.name).toBe('theirs at last')
    await console.isClean()
  })

  test('cannot delete a plant that changed since the table was read', async () => {
    await using console = await open()
    await console.row(9).waitFor()
    await put(9, 'changed')
    await console.button('Delete plant 9').click()

    await console.page.getByText(/left out: plant 9 \(someone changed it\)/).waitFor()
    await console.row(9).getByText('changed').waitFor()
    await console.isClean()
  })
})

describe('with a change log', () => {
  const withLog = async () => {
    const folder = temporaryFolder()
    const kept = await startDaemon({
      database: folder.file('plants.db'),
      args: ['--keep-changes', '1d'],
    })
    return {
      kept,
      async [Symbol.asyncDispose]() {
        await kept[Symbol.asyncDispose]()
        folder[Symbol.dispose]()
      },
    }
  }

  test('the table follows what others do', async () => {
    await using log = await withLog()
    await log.kept.create('{"id":1,"name":"Fern"}')
    await using console = await openConsole(browser, log.kept.url)
    await console.row(1).waitFor()
    await console.page.getByText('live', { exact: false }).waitFor()
    await log.kept.create('{"id":2,"name":"Rose"}')
    await console.row(2).getByText('Rose').waitFor()
    await log.kept.fetch('/plants/1', { method: 'PATCH', json: { name: 'Tree fern' } })
    await console.row(1).getByText('Tree fern').waitFor()
    await log.kept.fetch('/plants/2', { method: 'DELETE' })
    await console.row(2).waitFor({ state: 'detached' })
    await console.search('fern')
    await console.page.getByText('1 plant found').waitFor()
    await log.kept.create('{"id":3,"name":"Rose"}')
    await log.kept.create('{"id":4,"name":"Fern of another"}')
    await console.row(4).waitFor()
    expect(await console.row(3).count()).toBe(0)
    await console.page.getByRole('checkbox', { name: 'Select all' }).click()
    await console.page.getByText('All 2 selected').waitFor()
    await log.kept.fetch('/plants/4', { method: 'DELETE' })
    await console.row(4).waitFor({ state: 'detached' })
    await console.page.getByText('1 selected', { exact: true }).waitFor()
    await console.isClean()
  })

  test('an empty history says since when changes are recorded, or that they are not', async () => {
    using folder = temporaryFolder()
    const database = folder.file('plants.db')
    const open = async (url: string) => {
      const console = await openConsole(browser, url)
      await console.row(1).click()
      return console
    }
    {
      await using bare = await startDaemon({ database })
      for (const id of [1, 2]) await bare.create(`{"id":${id},"name":"Fern"}`)
      await using console = await open(bare.url)
      await console.page.getByText(/^Changes are not recorded/).waitFor()
      expect(await console.barriers()).toEqual([])
    }
    await using kept = await startDaemon({ database, args: ['--keep-changes', '1d'] })
    await using console = await open(kept.url)
    await console.page.getByText('No change is recorded yet.').waitFor()
    await kept.fetch('/plants/2', { method: 'PATCH', json: { name: 'Rose' } })
    await console.page.getByText(/^Not changed since \S+ \d+, \d+, .*, when/).waitFor()
    await console.row(2).click()
    await console.page.getByText('name: Fern → Rose').waitFor()
    expect(await console.page.getByText(/^Not changed/).count()).toBe(0)
  })

  test('a plant has a history, and an earlier version can be restored', async () => {
    await using log = await withLog()
    await log.kept.create('{"id":1,"name":"Fern","tag":"old"}')
    await log.kept.fetch('/plants/1', { method: 'PUT', json: { name: 'Tree fern' } })
    await using console = await openConsole(browser, log.kept.url)
    await console.row(1).click()
    const versions = console.page.getByRole('list', { name: 'History' }).getByRole('listitem')
    await versions.filter({ hasText: 'Created as Fern, tag old' }).waitFor()
    expect(await versions.first().getByRole('paragraph').allTextContents()).toEqual([
      'Name: Fern → Tree fern',
      'Tag: old → none',
      expect.stringMatching(/ by \S+$/),
    ])
    expect(await versions.count()).toBe(2)
    await console.page.getByText(/^Created \S+ \d+, \d+, .* by /).waitFor()
    await console.page.getByText(/^Changed \S+ \d+, \d+, .* by /).waitFor()
    expect(await console.barriers()).toEqual([])
    expect(await versions.getByRole('button', { name: 'Restore…' }).count()).toBe(1)
    await versions.last().getByRole('button', { name: 'Restore…' }).click()
    await versions.last().getByText('Name: Tree fern → Fern').waitFor()
    expect(await (await log.kept.fetch('/plants/1')).json()).toMatchObject({ name: 'Tree fern' })
    await console.button('Restore this version').click()
    await console.page.getByText('Plant 1 was restored').waitFor()
    expect(await (await log.kept.fetch('/plants/1')).json()).toEqual({
      id: 1,
      name: 'Fern',
      tag: 'old',
    })
    await console.isClean()
  })
})

describe('a delete', () => {
  const undo = (id: number) => `Undo the deletion of plant ${id}`

  test('is done at once, and undone by its note or the keyboard, the latest first', async () => {
    await using console = await open()
    for (const id of [21, 22, 23]) {
      await console.button(`Delete plant ${id}`).click()
      await console.button(undo(id)).waitFor()
      expect(stored(BigInt(id))).toBeUndefined()
    }
    await console.button(undo(23)).click()
    await console.row(23).waitFor()
    await console.grid.focus()
    for (const id of [22, 21]) {
      await console.page.keyboard.press('Control+z')
      await console.row(id).waitFor()
    }
    await console.page.keyboard.press('Control+z')
    await console.page.getByText('Nothing to undo').waitFor()
    await console.page.keyboard.press('Control+Shift+z')
    await until('the removal of plant 21', () => !stored(21n))
    await console.page.keyboard.press('Control+z')
    await console.row(21).waitFor()
    for (const id of [21n, 22n, 23n]) expect(stored(id)?.name).toBe(`plant ${id}`)
    await console.isClean()
  })

  test('by two quick clicks removes one plant', async () => {
    await using console = await open()
    await console.button('Delete plant 10').dblclick()
    await console.button(undo(10)).waitFor()

    await console.row(11).waitFor()
    await console.button(undo(10)).click()
    await console.row(10).waitFor()
    expect(stored(11n)).toBeDefined()
    await console.isClean()
  })

  test('leaves a plant that another user has changed', async () => {
    await using console = await open()
    await put(25, 'still wanted')
    await console.button('Delete plant 25').click()

    await console.page.getByText(/left out: plant 25 \(someone changed it\)/).waitFor()
    await console.row(25).getByText('still wanted').waitFor()
    expect(stored(25n)?.name).toBe('still wanted')
    await console.isClean()
  })
})

test('a file that is chosen while the daemon is away is imported once it is back', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  const first = await startDaemon({ database })
  await using console = await openConsole(browser, first.url)
  const { page } = console
  await page.getByText('Healthy').waitFor()
  await first.kill()
  await page.getByRole('alert').getByText('No response, retrying…').waitFor()
  await console.field('File to import').setInputFiles({
    name: 'plants.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('id,name\n1,Fern\n'),
  })
  await page.getByText('Waiting; it resumes by itself.').waitFor()
  await using _ = await startDaemon({ database, args: ['--port', String(first.port)] })

  await page.getByText('Done: created 1').waitFor()
  const complaints = await console.complaints()
  expect(complaints.filter((line) => !NO_ANSWER.test(line))).toEqual([])
})
