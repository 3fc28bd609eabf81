// Recent changes in the console, in a real Chromium: `bun run test:browser`.
import { expect, test } from 'bun:test'
import { until } from '../../harness/until'
import { ownConsole } from './console-page'

const { daemon, stored, createToken, open } = ownConsole(['--keep-changes', '1d'])

/** Creates three plants, and then changes one and deletes one with another token. */
async function change(): Promise<void> {
  for (const id of [1, 2, 3]) await daemon.create(`{"id":${id},"name":"plant ${id}","tag":"old"}`)
  const token = await createToken('greenhouse')
  const by = (path: string, method: string, json?: unknown) =>
    daemon.fetch(path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(json ? { json } : {}),
    })
  await by('/plants/1', 'PATCH', { name: 'Rose' })
  await by('/plants/2', 'DELETE')
}

test('recent changes have authors and filters, and can restore a deleted plant', async () => {
  await change()
  await using console = await open()
  const { page } = console
  await page.keyboard.press('r')
  const dialog = page.getByRole('dialog', { name: 'Recent changes' })
  const changes = dialog.getByRole('list', { name: 'Recent changes' }).getByRole('listitem')
  await until('all changes', async () => (await changes.count()) === 5)
  expect(await changes.first().getByRole('paragraph').allTextContents()).toEqual([
    'Plant 2 plant 2',
    'Deleted',
    expect.stringMatching(/ by greenhouse$/),
  ])
  expect(await console.barriers()).toEqual([])

  await dialog.getByLabel('Search the changes').fill('Greenhouse')
  expect(await changes.count()).toBe(2)
  await dialog.getByLabel('Kind').selectOption('Changed')
  expect(await changes.allTextContents()).toEqual([
    expect.stringMatching(/^Plant 1 Name: plant 1 → Rose/),
  ])
  await dialog.getByLabel('Kind').selectOption('Created')
  await dialog.getByText(/^No such change since /).waitFor()
  await dialog.getByLabel('Kind').selectOption('All changes')
  await dialog.getByLabel('Search the changes').fill('plant rose')
  await until('the change with both words', async () => (await changes.count()) === 1)
  expect(await changes.allTextContents()).toEqual([expect.stringMatching(/^Plant 1 Name/)])
  await dialog.getByLabel('Search the changes').fill('')

  await dialog.getByRole('button', { name: 'Restore plant 2' }).click()
  await dialog.getByText('Created plant 2; Ctrl+Z undoes it').waitFor()
  expect(stored(2n)).toMatchObject({ name: 'plant 2', tag: 'old' })
  await until('the new change', async () => (await changes.count()) === 6)
  expect(await dialog.getByRole('button', { name: 'Restore plant 2' }).count()).toBe(0)
  // The deletion is now the second change.
  const focused = changes.nth(1).getByRole('button', { name: 'Plant 2' })
  await until('the focus', () => focused.evaluate((element) => element === document.activeElement))

  await dialog.getByRole('button', { name: 'Plant 1' }).first().click()
  await page.getByRole('dialog', { name: 'Plant 1' }).waitFor()
  expect(await dialog.count()).toBe(0)
  await console.isClean()
})

test('a filter searches many changes, and a read-only token restores nothing', async () => {
  const plants = Array.from({ length: 1000 }, (_, index) => ({ id: 1000 + index, name: 'many' }))
  await daemon.fetch('/plants/batch', { json: { plants } })
  await daemon.fetch('/plants/1005', { method: 'DELETE' })
  const token = await createToken('reader', '--scope', 'read')
  await using console = await open({ token })
  await console.button('Recent changes r').click()
  const dialog = console.page.getByRole('dialog', { name: 'Recent changes' })
  const changes = dialog.getByRole('list', { name: 'Recent changes' }).getByRole('listitem')
  await until('a part of the changes', async () => (await changes.count()) === 50)
  await dialog.getByRole('button', { name: 'Show earlier changes' }).click()
  await until('more changes', async () => (await changes.count()) === 100)
  await dialog.getByLabel('Kind').selectOption('Deleted')
  // Deleted in either test, before a thousand creates.
  await dialog.getByText('Plant 2', { exact: true }).waitFor()
  expect(await changes.count()).toBe(2)
  expect(await dialog.getByRole('button', { name: /^Restore/ }).count()).toBe(0)
})
