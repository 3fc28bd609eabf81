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
const IDS = fc.constantFrom(1n, 2n, 3n, 4n, 2n ** 53n + 1n, INT64_MIN, INT64_MAX)
// Of these, an index of PostgreSQL has only the same beginning.
const LONG = 'x'.repeat(200)
const ODD_TEXTS = ['', 'NULL', 'null', '{}', '{"a"}', '"', "'", '\\', ',', '\n', 'ä', '🌱']
const TEXTS = fc.oneof(
  fc.constantFrom('rose', 'lily', LONG, `${LONG}y`),
  fc.constantFrom(...ODD_TEXTS),
  fc.string({ unit: 'binary', maxLength: 8 }).filter(isText),
)
const PLANTS = fc.record({ id: IDS, name: TEXTS, tag: TEXTS }, { requiredKeys: ['id', 'name'] })
const PLANT_LISTS = fc.uniqueArray(PLANTS, { selector: ({ id }) => id, minLength: 1, maxLength: 5 })
const PATCHES = fc.record({ name: TEXTS, tag: fc.option(TEXTS) }, { requiredKeys: [] })
const UPDATES = fc.record(
  { id: IDS, name: TEXTS, tag: fc.option(TEXTS), was: PATCHES },
  { requiredKeys: ['id'] },
)
const UPDATE_LISTS = fc.uniqueArray(UPDATES, {
  selector: ({ id }) => id,
  minLength: 1,
  maxLength: 5,
})
const ENTITY_TAGS = fc.oneof(
  fc.constant('*' as const),
  fc.array(
    PLANTS.map((plant) => entityTagOf(plant)),
    { minLength: 1 },
  ),
)
const ORIGIN = { token: 'a "b"', address: '::1', request: null }
const OPTIONS = fc.oneof(
  fc.constant({ origin: ORIGIN }),
  fc
    .record({ ifMatch: ENTITY_TAGS, ifNoneMatch: ENTITY_TAGS }, { requiredKeys: [] })
    .map((precondition: Precondition) => ({ origin: ORIGIN, precondition })),
)

type Call = {
  [Name in keyof PlantChanges]: readonly [Name, ...Parameters<PlantChanges[Name]>]
}[keyof PlantChanges]

const CALLS: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(fc.constant('createPlant'), PLANTS, OPTIONS),
  fc.tuple(fc.constant('createPlants'), PLANT_LISTS, OPTIONS),
  fc.tuple(fc.constant('putPlants'), PLANT_LISTS, OPTIONS),
  fc.tuple(fc.constant('patchPlants'), UPDATE_LISTS, OPTIONS),
  fc.tuple(fc.constant('deletePlants'), PLANT_LISTS, OPTIONS),
  fc.tuple(fc.constant('replacePlant'), PLANTS, OPTIONS),
  fc.tuple(fc.constant('patchPlant'), IDS, PATCHES, OPTIONS),
  fc.tuple(fc.constant('deletePlant'), IDS, OPTIONS),
)

const ALL = { limit: 9 }

const createOf = (id: bigint): Call => ['createPlant', { id, name: 'rose' }, { origin: ORIGIN }]

/** The result of a call, or the error of its refusal. */
async function answerOf(store: Store, [name, ...args]: Call): Promise<unknown> {
  try {
    return await (store[name] as (...args: unknown[]) => Promise<unknown>)(...args)
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return { error: error.error, message: error.message }
  }
}

const QUERIES: fc.Arbitrary<PlantQuery> = fc
  .record({
    limit: fc.integer({ min: 1, max: 4 }),
    after: fc.option(IDS),
    order: fc.constantFrom('asc', 'desc'),
    filter: fc.oneof(
      fc.constantFrom(...FILTERS),
      TEXTS.map((tag) => ({ tag })),
    ),
    names: fc.array(fc.oneof(TEXTS, fc.constantFrom('R', 'Ä', 'SE')), { maxLength: 2 }),
  })
  .map(({ filter, ...query }) => ({ ...query, ...filter }))

const PLACES: fc.Arbitrary<TagQuery> = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  after: fc.option(TEXTS),
})

/** A store, and the last cursor read from its change log. */
type Side = { readonly store: Store; after: string | undefined }

/** Makes the calls at once, so that they share commits. Resolves to every visible result. */
async function run(side: Side, calls: readonly Call[], query: PlantQuery, place: TagQuery) {
  const answers = await Promise.all(calls.map((call) => answerOf(side.store, call)))
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

describeServers('a store in %s', (startServer) => {
  test('answers, stores and logs random writes like the file', async () => {
    using folder = temporaryFolder()
    const file: Side = {
      store: await openAt(folder.file('plants.db'), [], DAY_MS),
      after: undefined,
    }
    const server: Side = {
      store: await openAt(await newDatabase(await startServer()), [], DAY_MS),
      after: undefined,
    }

    await fc.assert(
      fc.asyncProperty(
        fc.array(CALLS, { minLength: 1, maxLength: 20 }),
        QUERIES,
        PLACES,
        async (calls, query, place) => {
          expect(await run(server, calls, query, place)).toEqual(
            await run(file, calls, query, place),
          )
        },
      ),
      // A batch of creates is one statement, sorted by id.
      { numRuns: 300, endOnFailure: true, examples: [[[createOf(2n), createOf(1n)], ALL, ALL]] },
    )

    await Promise.all([file.store.close(), server.store.close()])
  })
})
