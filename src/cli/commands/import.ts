// plantstore import: creates the plants of a file, as clients would.

import { engineOf, openStore } from '../../engine/engine'
import { command } from '../../engine/role'
import { ApiError, UsageError } from '../../errors'
import { openInput, readInput } from '../../files/input'
import { csvHeaderForm } from '../../formats/csv'
import { type Entry, formatToRead } from '../../formats/format'
import { grouped, readPlants } from '../../formats/plants'
import type { Int64 } from '../../plant/plant'
import type { Store } from '../../store'
import { type Command, exitCodes, onlyArgument } from '../command'
import { databaseOptions } from '../options'
import { attended } from '../terminal/attended'
import { interruptCode, watchInterrupt } from '../terminal/interrupt'
import { createProgress, inPlants } from '../terminal/progress'

// For the log of changes.
const origin = { token: null, address: null, request: 'import' }

const REFUSED_SHOWN = 20

type Result = 'created' | 'skipped' | 'replaced' | { readonly problem: string }

/** One import. */
type Run = {
  readonly store: Store
  readonly isStrict: boolean
  readonly replaces: boolean
  readonly account: (entry: Entry, result: Result) => void
}

// The refusals of a plant whose id is taken.
const TAKEN = [40901, 40902]

/** Makes a change. Resolves to its refusal if that has one of these numbers; null: it is made. */
async function refusalOf(
  change: Promise<void>,
  numbers: readonly number[],
): Promise<ApiError | null> {
  try {
    await change
    return null
  } catch (error) {
    if (error instanceof ApiError && numbers.includes(error.error)) return error
    throw error
  }
}

async function importEntry(run: Run, entry: Entry): Promise<Result> {
  if ('problem' in entry) return { problem: entry.problem }
  const { store, replaces } = run
  const { plant } = entry
  const taken = await refusalOf(store.createPlant(plant, { origin }), TAKEN)
  if (!taken) return 'created'
  if (taken.error === 40901) return 'skipped'
  if (!replaces) return { problem: `id ${plant.id}: ${taken.message}` }
  const gone = await refusalOf(store.replacePlant(plant, { origin }), [40402])
  // A client has deleted it meanwhile.
  return gone ? importEntry(run, entry) : 'replaced'
}

/** Creates the plants of a group as one change; false, and none is created, if one of their ids is taken. */
async function createAll(store: Store, entries: readonly Entry[]): Promise<boolean> {
  const plants = entries.flatMap((entry) => ('plant' in entry ? [entry.plant] : []))
  return (await refusalOf(store.createPlants(plants, { origin }), TAKEN)) === null
}

async function importEach(run: Run, entries: readonly Entry[]): Promise<void> {
  // Entries with the same id wait for one another, because a replacement takes two steps.
  const last = new Map<Int64, Promise<Result>>()
  const results = await Promise.allSettled(
    entries.map((entry) => {
      const make = () => importEntry(run, entry)
      if (!('plant' in entry)) return make()
      const { id } = entry.plant
      const result = last.get(id)?.then(make) ?? make()
      last.set(id, result)
      return result
    }),
  )
  for (const [index, entry] of entries.entries()) {
    const result = results[index]
    if (result?.status === 'fulfilled') run.account(entry, result.value)
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

async function importUntilRefused(run: Run, entries: readonly Entry[]): Promise<boolean> {
  for (const entry of entries) {
    const result = await importEntry(run, entry)
    run.account(entry, result)
    if (typeof result !== 'string') return false
  }
  return true
}

/** Imports a group at once, which costs less; one by one if that is refused. False: a strict import ends here. */
async function importGroup(run: Run, entries: readonly Entry[]): Promise<boolean> {
  const { store, isStrict, account } = run
  const isWhole = entries.every((entry) => 'plant' in entry)
  if ((isWhole || !isStrict) && (await createAll(store, entries))) {
    for (const entry of entries) {
      account(entry, 'plant' in entry ? 'created' : { problem: entry.problem })
    }
    return true
  }
  if (isStrict) return importUntilRefused(run, entries)
  await importEach(run, entries)
  return true
}

/** Counts the results of entries, and reports the first refused ones. */
function createTally(report: (line: string) => void) {
  const counts = { created: 0, skipped: 0, replaced: 0, refused: 0 }
  return {
    counts,
    done: () => counts.created + counts.skipped + counts.replaced + counts.refused,
    account({ line }: Entry, result: Result): void {
      if (typeof result === 'string') {
        counts[result] += 1
        return
      }
      counts.refused += 1
      if (counts.refused <= REFUSED_SHOWN) report(`line ${line}: ${result.problem}`)
    },
    end(): void {
      const more = counts.refused - REFUSED_SHOWN
      if (more > 0) report(`${more} more lines were refused`)
    },
  }
}

export const importPlants: Command = {
  name: 'import',
  usage: 'FILE|-',
  summary: 'read plants from a file, or from standard input',
  help: `Reads NDJSON ({"id":1,"name":"Monstera","tag":"aroid"} on each line) or CSV (header ${csvHeaderForm}; a tag that is
empty without quotes is none), of any size, in UTF-8 or UTF-16. CSV may have commas, semicolons or tabs, and more columns,
which are not used. Creates the database if there is none. A plant that is already stored is skipped. A line that is wrong, or whose id belongs to a different plant, is refused, and the import goes on; the
first ${REFUSED_SHOWN} of them are shown. Reading stops at an unterminated quote. After Ctrl-C or a failure, run it again to
complete it. Works while the daemon runs. Exit code 1 if any line was refused, 130 after Ctrl-C.`,
  options: [...databaseOptions, 'format', 'delimiter', 'strict', 'replace'],
  async run({ config, args, out, err }) {
    const path = onlyArgument(args, 'FILE, or - for standard input')
    const format = config.format ?? formatToRead(path)
    if (!format) {
      throw new UsageError(`unknown format: add --format ndjson or csv (a JSON array: jq -c '.[]')`)
    }
    if (config.delimiter && format !== 'csv') throw new UsageError('--delimiter is for CSV')
    const input = openInput(path)
    using signal = watchInterrupt()
    const progress = createProgress(err, inPlants)
    let read = 0
    // Replaces the progress bar with a line.
    const report = (line: string) => {
      progress.end()
      err.write(`${line}\n`)
    }
    const tally = createTally(report)
    const bytes = readInput(input, path, signal, (length) => {
      read += length
    })
    const notices: string[] = []
    const groups = grouped(readPlants(format, bytes, config.delimiter, (it) => notices.push(it)))
    // A file that cannot be read creates no database.
    let group = await groups.next()
    if (signal.aborted) return interruptCode(signal)
    const { name, isNew } = engineOf(config.database).locate(config.database)
    const store = await openStore(
      config.database,
      command({ makesDatabase: true, ...attended(err) }),
      config,
    )
    if (isNew) err.write(`created database ${name}\n`)

    // One group is read while the one before it is being committed.
    let before: Promise<unknown> = Promise.resolve()
    const { strict: isStrict, replace: replaces } = config
    const run: Run = { store, isStrict, replaces, account: tally.account }
    try {
      for (; !group.done && !signal.aborted; group = await groups.next()) {
        await before
        progress.update(tally.done(), read, input.bytes)
        before = importGroup(run, group.value)
        // Awaited only with the next group, which may take long to arrive; a strict one may end with this.
        before.catch(() => {})
        if (isStrict && !(await before)) break
      }
      await before
    } finally {
      // Even an import that fails or is interrupted says what it has done.
      await before.catch(() => {})
      // What is left need not be interrupted in order.
      signal[Symbol.dispose]()
      progress.end()
      tally.end()
      notices.forEach(report)
      const { created, skipped, replaced, refused } = tally.counts
      out.write(
        `created ${created}, skipped ${skipped}, replaced ${replaced}, refused ${refused}\n`,
      )
      await store.close()
    }
    if (signal.aborted) {
      err.write('interrupted; run it again to complete it\n')
      return interruptCode(signal)
    }
    return tally.counts.refused > 0 ? exitCodes.failure : exitCodes.ok
  },
}
