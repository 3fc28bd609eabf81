import { statSync } from 'node:fs'
import type { Command } from '../command'
import { openStore } from '../engine/open-store'
import { command } from '../engine/role'
import { PlantError, UsageError } from '../errors'
import { type Entry, formatOf, readPlants } from '../formats/format'
import type { Int64, NewPlant } from '../plant'
import type { Store } from '../store'
import { createProgress } from '../terminal/progress'

// Plants that are sent to the store together, and so share a commit; and the characters of their texts, of which the
// store queues no more than 8 million.
const AT_ONCE = 1000
const CHARACTERS_AT_ONCE = 4_000_000

type Result = 'created' | 'skipped' | 'replaced' | { readonly problem: string }

async function importPlant(store: Store, plant: NewPlant, replace: boolean): Promise<Result> {
  try {
    await store.createPlant(plant)
    return 'created'
  } catch (error) {
    if (!(error instanceof PlantError)) throw error
    if (error.error === 40901) return 'skipped'
    if (error.error !== 40902) throw error
    if (!replace) return { problem: `id ${plant.id}: ${error.message}` }
    await store.replacePlant(plant)
    return 'replaced'
  }
}

const importEntry = (store: Store, entry: Entry, replace: boolean): Promise<Result> =>
  'plant' in entry
    ? importPlant(store, entry.plant, replace)
    : Promise.resolve({ problem: entry.problem })

type Account = (entry: Entry, result: Result) => void

async function importGroup(
  store: Store,
  entries: readonly Entry[],
  replace: boolean,
  account: Account,
): Promise<void> {
  // Those of one id come one after another, as a replacement is two steps.
  const last = new Map<Int64, Promise<Result>>()
  const results = await Promise.allSettled(
    entries.map((entry) => {
      if (!('plant' in entry)) return importEntry(store, entry, replace)
      const { id } = entry.plant
      const before = last.get(id)
      const make = () => importEntry(store, entry, replace)
      const result = before ? before.then(make) : make()
      last.set(id, result)
      return result
    }),
  )
  for (const [index, entry] of entries.entries()) {
    const result = results[index]
    if (result?.status === 'fulfilled') account(entry, result.value)
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** As {@link importGroup}, up to the first entry that is refused; false where there was one. */
async function importUntilRefused(
  store: Store,
  entries: readonly Entry[],
  replace: boolean,
  account: Account,
): Promise<boolean> {
  const plants = entries.flatMap((entry) => ('plant' in entry ? [entry.plant] : []))
  if (plants.length === entries.length) {
    try {
      await store.createPlants(plants)
      for (const entry of entries) account(entry, 'created')
      return true
    } catch (error) {
      // Some are there already: which, the plants tell one by one.
      if (!(error instanceof PlantError) || error.status !== 409) throw error
    }
  }
  for (const entry of entries) {
    const result = await importEntry(store, entry, replace)
    account(entry, result)
    if (typeof result !== 'string') return false
  }
  return true
}

function open(path: string): { stream: AsyncIterable<Uint8Array>; bytes: number | null } {
  if (path === '-') return { stream: Bun.stdin.stream(), bytes: null }
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) throw new UsageError(`${path} does not exist: name a file, or - for standard input`)
  if (stat.isDirectory()) throw new UsageError(`${path} is a folder: name a file`)
  return { stream: Bun.file(path).stream(), bytes: stat.isFile() ? stat.size : null }
}

async function* counted(stream: AsyncIterable<Uint8Array>, add: (bytes: number) => void) {
  for await (const chunk of stream) {
    add(chunk.byteLength)
    yield chunk
  }
}

const charactersOf = (entry: Entry): number =>
  'plant' in entry ? entry.plant.name.length + (entry.plant.tag?.length ?? 0) : 0

/** Groups of up to {@link AT_ONCE} entries, and {@link CHARACTERS_AT_ONCE} where one entry alone has no more. */
async function* grouped(entries: AsyncIterable<Entry>): AsyncGenerator<Entry[]> {
  let group: Entry[] = []
  let characters = 0
  for await (const entry of entries) {
    const more = charactersOf(entry)
    if (group.length === AT_ONCE || (characters + more > CHARACTERS_AT_ONCE && group.length > 0)) {
      yield group
      group = []
      characters = 0
    }
    group.push(entry)
    characters += more
  }
  if (group.length > 0) yield group
}

export const importPlants: Command = {
  name: 'import',
  usage: 'FILE|-',
  summary: 'read plants from a file, or from standard input',
  help: `Reads NDJSON ({"id":1,"name":"Monstera","tag":"aroid"} on each line) or CSV (with a first line id,name,tag; a tag
that is empty without quotes is none), in UTF-8, of any size. A plant that the store has already is skipped. A line
that is wrong, or whose id the store has with other fields, is reported and the rest goes on; a line of CSV whose
quotes leave open where it ends is the last that is read. Interrupted and run again, it completes. Works while the
daemon runs. Exit code 1 if any line was refused.`,
  options: ['database', 'format', 'strict', 'replace'],
  async run({ config, args: [path, ...rest], out, err }) {
    if (path === undefined || rest.length > 0)
      throw new UsageError('name one file, or - for standard input')
    const format = config.format ?? formatOf(path)
    if (!format) throw new UsageError(`say which --format ${path} has: ndjson or csv`)
    const { stream, bytes } = open(path)

    const store = await openStore(config.database, command({ makesDatabase: true }))
    const progress = createProgress(err, bytes)
    const counts = { created: 0, skipped: 0, replaced: 0, refused: 0 }
    let read = 0
    let done = 0

    const account: Account = ({ line }, result) => {
      if (typeof result === 'string') {
        counts[result] += 1
      } else {
        counts.refused += 1
        progress.end()
        err.write(`line ${line}: ${result.problem}\n`)
      }
      done += 1
      progress.update(read, done)
    }

    // One group is read while the one before it is being committed.
    let before: Promise<unknown> = Promise.resolve()
    try {
      const bytesRead = counted(stream, (length) => {
        read += length
      })
      for await (const group of grouped(readPlants[format](bytesRead))) {
        await before
        if (config.strict) {
          if (!(await importUntilRefused(store, group, config.replace, account))) break
        } else {
          before = importGroup(store, group, config.replace, account)
          // It is awaited with the next group, which may be long in coming.
          before.catch(() => {})
        }
      }
      await before
    } finally {
      // An import that fails tells as well what it has done until then.
      await before.catch(() => {})
      progress.end()
      const { created, skipped, replaced, refused } = counts
      out.write(
        `created ${created}, skipped ${skipped}, replaced ${replaced}, refused ${refused}\n`,
      )
      await store.close()
    }
    return counts.refused > 0 ? 1 : 0
  },
}
