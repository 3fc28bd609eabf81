import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { expectSound, storeFolder } from '../../harness/commands'
import { PATIENCE_MS } from '../../harness/daemon'
import { storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)

const ROUNDS = 3
const CLIENTS = 16
const ACKNOWLEDGED = 200

type Sent = { readonly id: bigint; readonly name: string; readonly tag: string | null }

/** The plant that a client sends: all that is in it follows from its id, but not from any other's. */
const plantOf = (id: bigint): Sent => ({
  id,
  name: `plant ${id} ${'ö'.repeat(Number(id % 50n))}`,
  tag: id % 3n === 0n ? null : `tag ${id % 7n}`,
})

const toJson = ({ id, name, tag }: Sent) =>
  `{"id":${id},"name":${JSON.stringify(name)}${tag === null ? '' : `,"tag":${JSON.stringify(tag)}`}}`

test('a store killed under load has every acknowledged plant, with all fields', async () => {
  using folder = storeFolder()
  const { database } = folder
  const acknowledged = new Set<bigint>()
  const deleted = new Set<bigint>()
  const sent = new Set<bigint>()

  for (let round = 0; round < ROUNDS; round++) {
    await using daemon = await folder.serve()
    const enough = acknowledged.size + ACKNOWLEDGED
    const client = async (number: number) => {
      for (let count = 0; ; count++) {
        // Negative and beyond 2^53, and no two the same.
        const id =
          (BigInt(round * CLIENTS + number) << 40n) * (number % 2 ? -1n : 1n) + BigInt(count)
        sent.add(id)
        const response = await daemon.create(toJson(plantOf(id)))
        await response.text()
        if (response.status === 200) acknowledged.add(id)
        if (count % 10 !== 9) continue
        // One that is on its way out may be there or not.
        acknowledged.delete(id)
        const removed = await daemon.fetch(`/plants/${id}`, { method: 'DELETE' })
        if (removed.status === 204) deleted.add(id)
      }
    }
    const clients = Array.from({ length: CLIENTS }, (_, number) => client(number).catch(() => {}))
    await until(`${enough} creates`, () => acknowledged.size >= enough)
    await daemon.stop('SIGKILL')
    await Promise.all(clients)
  }

  await using daemon = await folder.serve()
  const db = new Database(database, { readonly: true })
  expect(db.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  db.close()
  const stored = new Map(storedPlants(database).map((plant) => [plant.id, plant]))
  expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([])
  expect([...deleted].filter((id) => stored.has(id))).toEqual([])
  expect([...stored.keys()].filter((id) => !sent.has(id))).toEqual([])
  for (const plant of stored.values()) expect(plant).toEqual(plantOf(plant.id))
  expect(await daemon.metric('plantstore_plants')).toBe(stored.size)
  await expectSound(database, stored.size)

  const [id = 0n] = acknowledged
  expect((await daemon.create(toJson(plantOf(id)))).status).toBe(409)
})
