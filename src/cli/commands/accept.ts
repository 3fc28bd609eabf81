// plantstore accept: records edits by other programs.

import type { Edit } from '../../change-log/check'
import type { Config } from '../../config/config'
import { DATABASE_OPTIONS } from '../../config/options'
import { engineOf, openStore } from '../../engine/engine'
import { storeGuest } from '../../engine/store-user'
import { OpenError } from '../../errors'
import { charactersOf } from '../../plant/plant'
import { type PlantRow, toPlant } from '../../plant/row'
import { EXIT_CODES } from '../../program'
import type { Store } from '../../store'
import type { Command } from '../command'
import { countOf } from '../count'
import { interruptible } from '../terminal/interrupt'
import { attended } from '../terminal/suspend'

// Edits found by one reading of the whole store, which are held in memory.
const FOUND_AT_ONCE = 50_000
// Limits of one commit.
const EDITS_AT_ONCE = 1000
const CHARACTERS_AT_ONCE = 1_000_000

const length = (row: PlantRow | null): number => (row ? charactersOf(toPlant(row)) : 0)

/** The edits in groups that share a commit. */
function* groupsOf(edits: readonly Edit[]): Generator<readonly Edit[]> {
  let group: Edit[] = []
  let characters = 0
  for (const edit of edits) {
    group.push(edit)
    characters += length(edit.loggedRow) + length(edit.storedRow)
    if (group.length < EDITS_AT_ONCE && characters < CHARACTERS_AT_ONCE) continue
    yield group
    group = []
    characters = 0
  }
  if (group.length > 0) yield group
}

type Accepted = { readonly edits: number; readonly countDifference: number }

/** Accepts what one reading of the store finds. */
async function acceptFound(store: Store, config: Config, check: () => void): Promise<Accepted> {
  const { database } = config
  const found = await engineOf(database).check(database, config, FOUND_AT_ONCE)
  const [problem] = found.problems
  if (problem !== undefined) throw new OpenError(`${problem}; see "plantstore check"`)
  const { edits, countDifference } = found.differences
  if (countDifference !== 0) await store.accept([], countDifference)
  for (const group of groupsOf(edits)) {
    check()
    await store.accept(group, 0)
  }
  return { edits: edits.length, countDifference }
}

export const accept: Command = {
  name: 'accept',
  usage: '',
  summary: 'record edits that other programs made',
  help: `Plants that another program has edited, added or deleted, such as sqlite3 or psql, differ from the change log,
and the number of plants may be wrong: "plantstore check" says so. This command adds an entry to the change log for each
of these plants, and corrects the number. It changes no plant.

Works while the daemon runs.`,
  options: DATABASE_OPTIONS,
  async run({ config, out, err }) {
    const user = storeGuest({ makesDatabase: false, ...attended(err) })
    const store = await openStore(config.database, user, config)
    try {
      return await interruptible(async (check) => {
        let [entries, counted] = [0, 0]
        for (;;) {
          const { edits, countDifference } = await acceptFound(store, config, check)
          entries += edits
          counted += countDifference
          if (edits < FOUND_AT_ONCE) break
        }
        const sign = counted > 0 ? '+' : ''
        const count = counted === 0 ? '' : `; corrected the number of plants by ${sign}${counted}`
        out.write(`accepted ${countOf(entries, 'edited plant')}${count}\n`)
        return EXIT_CODES.ok
      })
    } finally {
      await store.close()
    }
  },
}
