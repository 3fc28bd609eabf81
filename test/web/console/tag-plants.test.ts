// The tag of many plants in the console, sent to a real daemon.
import { describe, expect, spyOn, test } from 'bun:test'
import { tagPlants } from '../../../src/web/console/bulk/tag-plants'
import { startDaemon, temporaryFolder } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'
import { create, numbered, type OpenedList, openList } from './opened-list'

const { daemon, database, createToken } = ownDaemon()

/** Tags plants as the table does; resolves to the reasons of those that are left. */
async function tag({ session, list }: OpenedList, plants: ReturnType<typeof numbered>) {
  const action = { tag: 'fern' }
  list.showAs(plants.map((plant) => ({ ...plant, ...action })))
  const all = []
  for await (const part of tagPlants(session, list, { action, plants, checked: new Map() }))
    all.push(...part)
  expect(all).toHaveLength(plants.length)
  return all.filter((it) => it !== null).map(({ plant, why }) => [plant.id, why])
}

describe('the tag of many', () => {
  test('leaves a plant that another has changed, and shows it; one that is gone is gone', async () => {
    const plants = numbered(1, 20)
    await create(daemon, plants)
    const opened = await openList(daemon)
    await daemon.fetch('/plants/2', { method: 'PATCH', json: { tag: 'theirs' } })
    await daemon.fetch('/plants/3', { method: 'DELETE' })
    const left = await tag(opened, plants.slice(0, 19))

    expect(left).toEqual([
      [2n, 'someone changed it'],
      [3n, 'someone deleted it'],
    ])
    const tags = storedPlants(database).map(({ tag }) => tag)
    expect(tags).toEqual(['fern', 'theirs', ...Array(16).fill('fern'), null])
    expect(opened.list.rows.held().map(({ tag }) => tag ?? null)).toEqual(tags)
  })

  test('that is refused puts the rest back at once, and sends nothing more', async () => {
    const plants = numbered(3000, 2000)
    for (let at = 0; at < plants.length; at += 500) {
      const some = plants.slice(at, at + 500).map(({ id, name }) => ({ id: Number(id), name }))
      const answer = await daemon.fetch('/plants/batch', { method: 'POST', json: { plants: some } })
      expect(answer.status).toBe(200)
    }
    const opened = await openList(daemon, await createToken('reader', '--scope', 'read'))
    await opened.list.readAll()
    const published = spyOn(opened.list.rows, 'publish')
    const left = await tag(opened, plants)

    expect(new Set(left.map(([, why]) => why))).toEqual(
      new Set(['this token is read-only; use a write token']),
    )
    expect(left).toHaveLength(plants.length)
    expect(published.mock.calls.length).toBeLessThan(20)
    expect(opened.list.rows.held().filter((it) => it.id >= 3000n)).toEqual(plants)
  })

  test('waits for a daemon that is away, and leaves nothing out', async () => {
    using folder = temporaryFolder()
    const own = { database: folder.file('plants.db') }
    const before = await startDaemon(own)
    const plants = numbered(1, 30)
    await create(before, plants)
    const opened = await openList(before)
    const { port } = new URL(before.url)
    await before.stop()
    const tagged = tag(opened, plants)
    await until('an outage', () => !opened.session.isReachable.value)
    await using after = await startDaemon({ ...own, args: ['--port', port] })
    opened.session.isReachable.value = true

    expect(await tagged).toEqual([])
    const answer = await after.fetch('/plants?tag=fern&limit=100')
    expect(((await answer.json()) as { plants: unknown[] }).plants).toHaveLength(30)
  })
})
