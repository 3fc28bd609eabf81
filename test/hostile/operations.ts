// Compares random operations with a model: `bun test/hostile/operations.ts [--operations 100000] [--seed N]`.
// With PLANTSTORE_TEST_DATABASE=postgres://…, the daemon uses that server (test/slow/postgres/http.test.ts).

import { parseArgs } from 'node:util'
import { builtProgram, startDaemon } from '../harness/daemon'
import { FILTERS } from '../harness/filters'
import { temporaryFolder } from '../harness/folder'
import { type Expected, Model, type ModelChange, type ModelUpdate } from './model'

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    operations: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
})
const operations = Number(values.operations)

/** Random numbers that a seed repeats: a whole number from 0 to below `bound`. Mulberry32, by Tommy Ettinger. */
function createRandom(seed: number) {
  let state = seed >>> 0
  return (bound: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * bound)
  }
}

const random = createRandom(Number(values.seed))

const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item

const MAX_SHOWN = 10
const WHOLE_EVERY = 500
const ids = [...Array(16).keys()]
  .map(BigInt)
  .concat([-1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)])
const LONG = 'x'.repeat(200)
const texts = ['', 'a', 'A', 'Rosa alba', 'alba ROSA', '苔', '\uff5e', '🌵', '%', LONG, `${LONG}y`]

type Sent = { readonly method: string; readonly path: string; readonly body?: string }
type Operation = { readonly sent: Sent; readonly expected: Expected }

const model = new Model()

/** Sometimes a value of these. */
const maybe = <T>(make: () => T, of = 2): T | undefined => (random(of) ? undefined : make())

const text = () => pick(texts)
const id = () => pick(ids)
const some = <T>(make: (id: bigint) => T): T[] => {
  const first = random(ids.length)
  return Array.from({ length: 1 + random(4) }, (_, index) =>
    make(ids[(first + index * 5) % ids.length] ?? 0n),
  )
}

const optional = <Name extends string, T>(name: Name, value: T | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: T }

function plant(id: bigint) {
  // Often as stored, so that batches find what they expect.
  const stored = model.plants.get(id)
  if (stored && random(2)) return { id, ...stored }
  return { id, name: text(), ...optional('tag', maybe(text)) }
}

const change = (): ModelChange => ({
  ...optional('name', maybe(text)),
  ...optional(
    'tag',
    maybe(() => (random(3) ? text() : null)),
  ),
})

function was(id: bigint): ModelChange {
  const stored = model.plants.get(id)
  if (!stored || random(3) === 0) return change()
  return {
    ...optional(
      'name',
      maybe(() => stored.name),
    ),
    ...optional(
      'tag',
      maybe(() => stored.tag ?? null),
    ),
  }
}

const update = (id: bigint): ModelUpdate => ({
  id,
  ...change(),
  ...optional(
    'was',
    maybe(() => was(id)),
  ),
})

const bodyOf = (value: { readonly id?: bigint }): string =>
  JSON.stringify(value, (_, field) =>
    typeof field === 'bigint' ? JSON.rawJSON(String(field)) : field,
  )
const batchOf = (plants: readonly object[]) => `{"plants":[${plants.map(bodyOf).join(',')}]}`

const searchOf = (query: Readonly<Record<string, unknown>>): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value ?? []].flat()) search.append(name, String(each))
  }
  return search.toString()
}

function list(): Operation {
  const query = {
    limit: 1 + random(6),
    ...optional('after', maybe(id)),
    ...pick(FILTERS),
    ...optional('tag', maybe(text, 4)),
    ...optional(
      'order',
      maybe(() => pick(['asc', 'desc'] as const)),
    ),
  }
  const parts = ['ROSA', 'al', 'a', '', '苔', 'b r', '%']
  const names = Array.from({ length: random(3) }, () => pick(parts))
  const path = `/plants?${searchOf({ ...query, name: names })}`
  return { sent: { method: 'GET', path }, expected: model.list({ ...query, names }) }
}

function tags(): Operation {
  const limit = 1 + random(12)
  const after = maybe(() => pick([text(), 'm', `${LONG}a`, '\u{10ffff}']))
  const path = `/tags?${searchOf({ limit, after })}`
  return { sent: { method: 'GET', path }, expected: model.tags(limit, after) }
}

const at = (method: string, path: string, expected: Expected, body?: string): Operation => ({
  sent: { method, path, ...optional('body', body) },
  expected,
})

const kinds: readonly (() => Operation)[] = [
  () => {
    const one = plant(id())
    return at('POST', '/plants', model.create([one], false), bodyOf(one))
  },
  () => {
    const all = some(plant)
    return at('POST', '/plants/batch', model.create(all, true), batchOf(all))
  },
  () => {
    const all = some(plant)
    return at('PUT', '/plants/batch', model.put(all), batchOf(all))
  },
  ...Array<() => Operation>(3).fill(() => {
    const all = some(update)
    return at('PATCH', '/plants/batch', model.patchAll(all), batchOf(all))
  }),
  () => {
    const all = some(plant)
    return at('POST', '/plants/batch-delete', model.deleteAll(all), batchOf(all))
  },
  () => {
    const one = plant(id())
    return at('PUT', `/plants/${one.id}`, model.replace(one), bodyOf(one))
  },
  () => {
    const [plantId, fields] = [id(), change()]
    return at('PATCH', `/plants/${plantId}`, model.patch(plantId, fields), bodyOf(fields as object))
  },
  () => {
    const plantId = id()
    return at('DELETE', `/plants/${plantId}`, model.delete(plantId))
  },
  () => {
    const plantId = id()
    return at('GET', `/plants/${plantId}`, model.read(plantId))
  },
  ...Array<() => Operation>(3).fill(list),
  ...Array<() => Operation>(2).fill(tags),
]

const whole = (): Operation =>
  at('GET', '/plants?limit=1000', model.list({ limit: 1000, names: [] }))

using folder = temporaryFolder()
await using daemon = await startDaemon({
  program: builtProgram(),
  database: folder.file('plants.db'),
})

let differences = 0
const started = performance.now()
for (let n = 1; n <= operations; n++) {
  const { sent, expected } = n % WHOLE_EVERY === 0 ? whole() : pick(kinds)()
  const { method, path, body } = sent
  const answer = await daemon.fetch(path, { method, ...optional('body', body) })
  const got = await answer.text()
  const [status, wanted] = expected
  const isRight =
    answer.status === status &&
    (typeof wanted === 'number' ? got.startsWith(`{"error":${wanted},`) : got === wanted)
  if (isRight) continue
  differences += 1
  if (differences <= MAX_SHOWN) console.error({ n, sent, expected, status: answer.status, got })
}
const seconds = (performance.now() - started) / 1000

console.log(
  `model: ${operations} operations in ${seconds.toFixed(1)} s, seed ${values.seed}; ${differences} differences`,
)
process.exitCode = differences > 0 ? 1 : 0
