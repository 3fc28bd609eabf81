// The deletion of many plants in the console: batches, sent to a real daemon.
import { describe, expect, spyOn, test } from 'bun:test'
import { deletePlants, fitsLeaving } from '../../../src/web/console/bulk/delete-plants'
import { ownDaemon } from '../../harness/own-daemon'
import { storedPlants } from '../../harness/plants'
import { create, numbered, type OpenedList, openList } from './opened-list'

const { daemon, database, createToken } = ownDaemon()
const narrow = ownDaemon({ args: ['--max-body-bytes', '2048'] })

/** Deletes plants as the table does; resolves to the reasons of those that are left, and the requests. */
async function remove({ session, list }: OpenedList, plants: ReturnType<typeof numbered>) {
  list.rows.hide(plants.map(({ id }) => id))
  const fetched = spyOn(globalThis, 'fetch')
  const all = []
  for await (const part of deletePlants(session, list, plants)) all.push(...part)
  const requests = fetched.mock.calls.map(([url, init]) =>
    `${init?.method} ${String(url)}`.replace(/http:..[^/]+/, ''),
  )
  fetched.mockRestore()
  expect(all).toHaveLength(plants.length)
  return {
    left: all.filter((it) => it !== null).map(({ plant, why }) => [plant.id, why]),
    requests,
  }
}

describe('a deletion', () => {
  test('of 2500 plants takes three requests', async () => {
    const plants = numbered(10_000, 2500)
    for (let at = 0; at < plants.length; at += 500) {
      const some = plants.slice(at, at + 500).map(({ id, name }) => `{"id":${id},"name":"${name}"}`)
      const body = `{"plants":[${some}]}`
      expect((await daemon.fetch('/plants/batch', { method: 'POST', body })).status).toBe(200)
    }
    const { left, requests } = await remove(await openList(daemon), plants)

    expect(left).toEqual([])
    expect(requests).toEqual(Array(3).fill('POST /plants/batch-delete'))
    expect(storedPlants(database).filter(({ id }) => id >= 10_000n)).toEqual([])
  })

  test('leaves a plant that another has changed, and shows it; one that is gone is gone', async () => {
    const plants = numbered(1, 5)
    await create(daemon, plants)
    const opened = await openList(daemon)
    await daemon.fetch('/plants/2', { method: 'PATCH', json: { tag: 'theirs' } })
    await daemon.fetch('/plants/3', { method: 'DELETE' })
    const { left } = await remove(opened, plants.slice(0, 4))

    expect(left).toEqual([[2n, 'someone changed it']])
    expect(opened.list.rows.held()).toEqual([
      { id: 2n, name: 'Moss 1', tag: 'theirs' },
      { id: 5n, name: 'Moss 4' },
    ])
    expect(storedPlants(database).map(({ id }) => id)).toEqual([2n, 5n])
  })

  test('that is refused puts all plants back, and sends nothing more', async () => {
    const plants = numbered(3000, 2000)
    const token = await createToken('reader', '--scope', 'read')
    const opened = await openList(daemon, token)
    const before = storedPlants(database)
    const { left, requests } = await remove(opened, plants)

    expect(requests).toHaveLength(1)
    expect(new Set(left.map(([, why]) => why))).toEqual(
      new Set(['this token is read-only; use a write token']),
    )
    expect(opened.list.rows.held()).toHaveLength(before.length + plants.length)
    expect(storedPlants(database)).toEqual(before)
  })

  test('of more than a request may have is sent in parts, and of one that no batch has room for alone', async () => {
    const long = { id: 100n, name: 'x'.repeat(2048 - '{"id":100,"name":""}'.length) }
    const plants = [...numbered(1, 90), long]
    await create(narrow.daemon, plants)
    const { left, requests } = await remove(await openList(narrow.daemon), plants)

    expect(left).toEqual([])
    expect(requests.filter((it) => it.startsWith('POST')).length).toBeGreaterThan(2)
    expect(requests.at(-1)).toBe('DELETE /plants/100')
    expect(storedPlants(narrow.database)).toEqual([])
  })
})

test('several hundred plants are deleted while the page is left, and no longer text than browsers send then', () => {
  expect(fitsLeaving(numbered(1, 800))).toBeTrue()
  expect(fitsLeaving(numbered(1, 5000))).toBeFalse()
  expect(fitsLeaving([{ id: 1n, name: 'ü'.repeat(30_000) }])).toBeFalse()
})
