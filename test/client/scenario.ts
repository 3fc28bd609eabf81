// The actions of a user of the client, the same on every platform. This file imports nothing but types, because only
// its text is sent to the other platforms.
import type { Client } from '../../src/client/client'

const LEAST = -(2n ** 63n)
const MOST = 2n ** 63n - 1n

/** Ids at both ends of int64, near the limits of exact doubles, and around zero. */
export const IDS = [
  LEAST,
  LEAST + 1n,
  -(2n ** 53n) - 1n,
  -1n,
  0n,
  2n ** 53n - 1n,
  2n ** 53n + 1n,
  MOST - 1n,
  MOST,
]

/** Texts that a careless JSON parser would misread. */
const NAMES = [
  '',
  '"id":1',
  '\\"id\\":2,\\',
  '{"id":9007199254740993}',
  'Schefflera \u{1F331} אזוב',
  '\u2028\\\\"',
]

type Expect = (what: string, found: unknown, wanted: unknown) => void

const PLANTS = IDS.map((id, index) => {
  const name = NAMES[index % NAMES.length] ?? ''
  return index % 2 === 0 ? { id, name, tag: `${name}, "id":3` } : { id, name }
})

/** Creates plants, and reads them one by one and page by page. */
async function exerciseReads(client: Client, expect: Expect): Promise<void> {
  for (const plant of PLANTS) {
    const { id, ...rest } = plant
    const created = await client.createPlant(plant)
    expect(`create ${id}`, created.ok && created.value, rest)
    const found = await client.readPlant(id)
    expect(`read ${id}`, found.ok && found.value, plant)
  }
  const listed = []
  for await (const plant of client.plants({ limit: 2 })) listed.push(plant)
  expect('all pages', listed, PLANTS)
  const behind = await client.listPlants({ after: MOST - 1n, limit: 5 })
  expect('the last page', behind.ok && behind.value, { plants: PLANTS.slice(-1), next: null })
  const health = await client.health()
  expect('health', health.ok && health.value, { status: 'ok' })
}

/** Creates, replaces and patches one plant, with and without conditions. */
async function exerciseChanges(client: Client, expect: Expect): Promise<void> {
  const known = await client.createPlant({ id: MOST, name: 'other' })
  expect('a taken id', !known.ok && [known.error, known.status], [40902, 409])
  const replaced = await client.replacePlant({ id: MOST, name: 'new' })
  expect('replace', replaced.ok && replaced.value, { id: MOST, name: 'new' })
  const version = replaced.ok ? replaced.etag : undefined
  const patched = await client.patchPlant(MOST, { tag: 't' }, { ifMatch: version })
  expect('patch', patched.ok && patched.value, { id: MOST, name: 'new', tag: 't' })
  const late = await client.replacePlant({ id: MOST, name: 'late' }, { ifMatch: version })
  expect('a lost update', !late.ok && [late.error, late.status], [41201, 412])
  const untagged = await client.patchPlant(MOST, { tag: null })
  expect('the same fields have the same etag', untagged.ok && untagged.etag, version)
  const unchanged = await client.readPlant(MOST, { ifNoneMatch: version })
  expect('an unchanged plant', unchanged.ok && [unchanged.value, unchanged.etag], [null, version])
}

/** Creates, replaces, patches and deletes many plants at once. */
async function exerciseBatches(client: Client, expect: Expect): Promise<void> {
  const batch = await client.createPlants([{ id: 7n, name: 'seven' }])
  expect('a batch', batch.ok && batch.value, { created: 1 })
  const counts = await client.putPlants([
    { id: 7n, name: 'seven' },
    { id: MOST, name: 'new', tag: 'put' },
    { id: 8n, name: 'eight' },
  ])
  expect('a put', counts.ok && counts.value, { created: 1, replaced: 1, unchanged: 1 })
  const update = await client.patchPlants([
    { id: 7n, tag: 't', was: { tag: null } },
    { id: MOST, name: 'other', was: { tag: null } },
    { id: 2n ** 53n + 3n, tag: 't' },
  ])
  const left = { conflicts: [{ id: MOST }], missing: [{ id: 2n ** 53n + 3n }] }
  expect('a batch of patches', update.ok && update.value, {
    created: 0,
    patched: 1,
    unchanged: 0,
    ...left,
  })
  await client.patchPlants([{ id: 7n, tag: null }])
  const gone = await client.deletePlants([
    { id: 7n, name: 'seven' },
    { id: MOST, name: 'other' },
    { id: 2n ** 53n + 3n, name: 'none' },
  ])
  expect('a batch of deletes', gone.ok && gone.value, { deleted: 1, ...left })
  for (const id of [8n, ...IDS]) {
    const deleted = await client.deletePlant(id)
    expect(`delete ${id}`, deleted.ok && deleted.value, null)
  }
}

/** Follows the changes of a plant, from its creation to its deletion. */
async function exerciseFeed(client: Client, expect: Expect): Promise<void> {
  const end = await client.listChanges({ after: 'now' })
  await client.createPlant({ id: MOST, name: 'followed' })
  const followed = []
  for await (const { action, id, after } of client.changes({
    after: end.ok ? end.value.next : '',
  })) {
    followed.push([action, id, after])
    // The first change is in the log already; the second arrives while the client follows.
    if (followed.length === 1) await client.deletePlant(MOST)
    else break
  }
  expect('the changes', followed, [
    ['create', MOST, { name: 'followed' }],
    ['delete', MOST, null],
  ])
  const deleted = await client.readPlant(MOST)
  expect('a deleted plant', !deleted.ok && deleted.error, 40402)
}

/** Uses every part of a client, and resolves to the expectations that failed. The store is empty again afterwards. */
export async function exercise(client: Client): Promise<string[]> {
  const wrong: string[] = []
  const show = (value: unknown) =>
    JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item))
  const expect: Expect = (what, found, wanted) => {
    if (show(found) !== show(wanted)) wrong.push(`${what}: ${show(found)}, not ${show(wanted)}`)
  }
  await exerciseReads(client, expect)
  await exerciseChanges(client, expect)
  await exerciseBatches(client, expect)
  await exerciseFeed(client, expect)
  return wrong
}
