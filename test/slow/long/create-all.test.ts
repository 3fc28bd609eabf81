// The results of createAll for each plant, and the number of its requests.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createClient, type Fetch, type NewPlant, type Plants } from '../../../src/client/client'
import { TOKEN } from '../../harness/daemon'
import { own } from '../../harness/own'
import { ownDaemon } from '../../harness/own-daemon'
import { storedPlants } from '../../harness/plants'

const { daemon, database, stored } = ownDaemon()
const client = own(() => createClient({ url: daemon.url, token: TOKEN }))

/** So many plants from an id on. */
const rowOf = (from: bigint, count: number): NewPlant[] =>
  Array.from({ length: count }, (_, index) => ({
    id: from + BigInt(index),
    name: `plant ${index}`,
  }))

/** Creates plants, and counts. `faults` answer the first requests in turn. */
async function createAll(plants: Plants, faults: readonly (() => Response)[] = []) {
  const sum = { requests: 0, created: 0, known: 0, refused: 0 }
  const counted: Fetch = async (to, init) => faults[sum.requests++]?.() ?? fetch(to, init)
  const counting = createClient({ url: daemon.url, token: TOKEN, fetch: counted })
  for await (const { created, known, refused } of counting.createAll(plants)) {
    sum.created += created
    sum.known += known
    sum.refused += refused.length
  }
  return sum
}

const refusal = (error: number) => () =>
  Response.json({ error, message: 'as the test says' }, { status: Math.floor(error / 100) })

test('createAll sends one request for new plants, two for stored ones, three for a mixture', async () => {
  const plants = rowOf(1n, 5000)
  const mixture = [...plants.slice(4500), ...rowOf(9000n, 500)]

  expect(await createAll(plants)).toEqual({ requests: 5, created: 5000, known: 0, refused: 0 })
  expect(await createAll(plants)).toEqual({ requests: 10, created: 0, known: 5000, refused: 0 })
  expect(await createAll(mixture)).toEqual({ requests: 3, created: 500, known: 500, refused: 0 })
})

// A plant that is wrong and whose id is taken may be refused for either.
test('createAll reports each plant as if the plants were sent one by one', async () => {
  const namesFrom = async (least: bigint) => {
    const found = await Array.fromAsync(client.plants({ after: least - 1n }))
    return new Map(found.map(({ id, name }) => [id, name]))
  }
  let region = 2n ** 62n
  const line = fc.record({
    id: fc.oneof(fc.bigInt({ min: 0n, max: 40n }), fc.bigInt({ min: 0n, max: 10n ** 6n })),
    name: fc.constantFrom('a', 'b', '\0'),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 60 }),
      fc.array(line, { maxLength: 200 }),
      async (before, lines) => {
        region += 2n * 10n ** 6n
        const move = ({ id, name }: NewPlant, index: number) => ({ id: region + id, name, index })
        await createAll(before.map(move))
        const there = await namesFrom(region)
        const wanted = {
          created: 0,
          known: 0,
          refused: [] as (number | readonly [number, number])[],
        }
        const plants = lines.map(move)
        for (const { id, name, index } of plants) {
          const other = there.get(id)
          if (name === '\0') wanted.refused.push(index)
          else if (other === undefined) {
            there.set(id, name)
            wanted.created++
          } else if (other === name) wanted.known++
          else wanted.refused.push([index, 40902])
        }

        const [outcome] = await Array.fromAsync(client.createAll(plants))

        const refused = outcome?.refused.map(({ plant: { name, index }, failure }) =>
          name === '\0' ? index : ([index, failure.error] as const),
        )
        expect({ created: 0, known: 0, ...outcome, refused: refused ?? [] }).toEqual(wanted)
        expect(await namesFrom(region)).toEqual(there)
      },
    ),
    { numRuns: 40 },
  )
})

test('createAll creates plants that were deleted after they had refused a batch', async () => {
  const plants = rowOf(-30_000n, 30)

  const sum = await createAll(plants, [refusal(40901)])

  expect(sum).toMatchObject({ created: 30, known: 0, refused: 0 })
  expect(stored(-30_000n)).toBeDefined()
})

test('createAll ends with the error that hides which plants are stored', async () => {
  const all = createAll(rowOf(-40_000n, 30), [refusal(40901), refusal(50701)])

  await expect(all).rejects.toMatchObject({ failure: { error: 50701 } })
})

test('createAll refuses an object that is not a plant like any other, and continues', async () => {
  const circle: unknown[] = []
  circle.push(circle)
  const wrong: readonly unknown[] = [
    { id: -50_001n },
    { id: -50_002n, name: 5n },
    { id: -50_003n, name: circle },
    { id: -50_004n, name: 'a', tag: {} },
    { id: 5, name: 'a' },
    { name: 'a' },
    { id: 2n ** 63n, name: 'a' },
    // The second is looked up, for it repeats an id.
    { id: 2n ** 70n, name: 'a' },
    { id: 2n ** 70n, name: 'a' },
    null,
    'plant',
  ]
  const good = [{ id: -50_010n, name: 'a' }]
  // A program without types gives what it has.
  const given = [...wrong, ...good] as NewPlant[]

  const [outcome] = await Array.fromAsync(client.createAll(given))

  expect(outcome).toMatchObject({ created: 1, known: 0 })
  const refused: readonly unknown[] = outcome?.refused.map(({ plant }) => plant) ?? []
  expect(refused).toEqual(wrong)
  for (const { failure } of outcome?.refused ?? []) {
    expect(failure).toMatchObject({ ok: false, error: 40002, status: 400 })
    expect(failure.message).not.toBeEmpty()
  }
  expect(storedPlants(database).filter(({ id }) => id > -50_020n && id < -49_000n)).toHaveLength(1)
})
