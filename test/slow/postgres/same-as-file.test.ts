// Random writes and lists: both engines answer, store and log the same.
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import type { PlantChanges } from '../../../src/engine/commit/plant-writes'
import { RequestError } from '../../../src/errors'
import { entityTagOf, type Precondition } from '../../../src/plant/entity-tag'
import { INT64_MAX, INT64_MIN, isText } from '../../../src/plant/plant'
import type { PlantQuery, TagQuery } from '../../../src/plant/plants'
import type { Store } from '../../../src/store'
import { PATIENCE_MS, temporaryFolder } from '../../harness/daemon'
import { FILTERS } from '../../harness/filters'
import { describeServers } from '../../harness/own-server'
import { newDatabase, openAt } from '../../harness/postgres-store'
import { allPlants } from '../../harness/tested-store'

setDefaultTimeout(2 * PATIENCE_MS)

const DAY_MS = 86_400_000

// Few, so that the writes of one commit meet.
const ids = fc.constantFrom(1n, 2n, 3n, 4n, 2n ** 53n + 1n, INT64_MIN, INT64_MAX)
const odd = [
  '',
  'x'.repeat(200),
  `${'x'.repeat(200)}y`,
  'NULL',
  'null',
  '{}',
  '{"a"}',
  '"',
  "'",
  '\\',
  ',',
  '\n',
  'ä',
  '🌱',
]
const texts = fc.oneof(
  fc.constantFrom('rose', 'lily'),
  fc.constantFrom(...odd),
  fc.string({ unit: 'binary', maxLength: 8 }).filter(isText),
)
const plants = fc.record({ id: ids, name: texts, tag: texts }, { requiredKeys: ['id', 'name'] })
const several = fc.uniqueArray(plants, { selector: ({ id }) => id, minLength: 1, maxLength: 5 })
const patches = fc.record({ name: texts, tag: fc.option(texts) }, { requiredKeys: [] })
const updates = fc.record(
  { id: ids, name: texts, tag: fc.option(texts), was: patches },
  { requiredKeys: ['id'] },
)
const severalUpdates = fc.uniqueArray(updates, {
  selector: ({ id }) => id,
  minLength: 1,
  maxLength: 5,
})
const entityTags = fc.oneof(
  fc.constant('*' as const),
  fc.array(plants.map(entityTagOf), { minLength: 1 }),
)
const origin = { token: 'a "b"', address: '::1', request: null }
const options = fc.oneof(
  fc.constant({ origin }),
  fc
    .record({ ifMatch: entityTags, ifNoneMatch: entityTags }, { requiredKeys: [] })
    .map((precondition: Precondition) => ({ origin, precondition })),
)

type Call = {
  [Name in keyof PlantChanges]: readonly [Name, ...Parameters<PlantChanges[Name]>]
}[keyof PlantChanges]

const calls: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(fc.constant('createPlant'), plants, options),
  fc.tuple(fc.constant('createPlants'), several, options),
  fc.tuple(fc.constant('putPlants'), several, options),
  fc.tuple(fc.constant('patchPlants'), severalUpdates, options),
  fc.tuple(fc.constant('deletePlants'), several, options),
  fc.tuple(fc.constant('replacePlant'), plants, options),
  fc.tuple(fc.constant('patchPlant'), ids, patches, options),
  fc.tuple(fc.constant('deletePlant'), ids, options),
)

const ALL = { limit: 9 }

const createOf = (id: bigint): Call => ['createPlant', { id, name: 'rose' }, { origin }]

/** The result of a call, or the error of its refusal. */
async function answerOf(store: Store, [name, ...args]: Call): Promise<unknown> {
  try {
    return await (store[name] as (...args: unknown[]) => Promise<unknown>)(...args)
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return { error: error.error, message: error.message }
  }
}

const queries: fc.Arbitrary<PlantQuery> = fc
  .record({
    limit: fc.integer({ min: 1, max: 4 }),
    after: fc.option(ids),
    order: fc.constantFrom('asc', 'desc'),
    filter: fc.constantFrom(...FILTERS),
    names: fc.array(fc.oneof(texts, fc.constantFrom('R', 'Ä', 'SE')), { maxLength: 2 }),
  })
  .map(({ filter, ...query }) => ({ ...query, ...filter }))

const places: fc.Arbitrary<TagQuery> = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  after: fc.option(texts),
})

/** A store, and the end of its change log as read so far. */
type Side = { readonly store: Store; after: string | undefined }

/** Makes the calls at once, so that they share commits. Resolves to all that can be seen of them. */
async function run(side: Side, made: readonly Call[], query: PlantQuery, place: TagQuery) {
  const answers = await Promise.all(made.map((call) => answerOf(side.store, call)))
  const page = await side.store.changeLog?.read({ after: side.after, limit: 500 })
  side.after = page?.next
  const entries = page?.entries.map(({ cursor, at, ...entry }) => entry)
  return {
    answers,
    entries,
    plants: await allPlants(side.store),
    found: await side.store.listPlants(query),
    tags: await side.store.listTags(place),
    count: await side.store.countPlants(),
  }
}

describeServers('%s', (started) => {
  test('answers, stores and logs random writes like the file', async () => {
    using folder = temporaryFolder()
    const file: Side = {
      store: await openAt(folder.file('plants.db'), [], DAY_MS),
      after: undefined,
    }
    const server: Side = {
      store: await openAt(await newDatabase(await started()), [], DAY_MS),
      after: undefined,
    }

    await fc.assert(
      fc.asyncProperty(
        fc.array(calls, { minLength: 1, maxLength: 20 }),
        queries,
        places,
        async (made, query, place) => {
          expect(await run(server, made, query, place)).toEqual(await run(file, made, query, place))
        },
      ),
      // Creates alone are one statement, sorted by their ids.
      { numRuns: 300, endOnFailure: true, examples: [[[createOf(2n), createOf(1n)], ALL, ALL]] },
    )

    await Promise.all([file.store.close(), server.store.close()])
  })
})
