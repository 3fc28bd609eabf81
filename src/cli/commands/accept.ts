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
import { interactiveOptions } from '../terminal/suspend'

// Maximum number of edits per check of the whole store: they are held in memory.
const EDITS_PER_CHECK = 50_000
// Limits of one commit.
const EDITS_PER_COMMIT = 1000
const CHARACTERS_PER_COMMIT = 1_000_000

const charactersOfRow = (row: PlantRow | null): number => (row ? charactersOf(toPlant(row)) : 0)

/** The edits in groups that share a commit. */
function* groupsOf(edits: readonly Edit[]): Generator<readonly Edit[]> {
  let group: Edit[] = []
  let characters = 0
  for (const edit of edits) {
    group.push(edit)
    characters += charactersOfRow(edit.loggedRow) + charactersOfRow(edit.storedRow)
    if (group.length < EDITS_PER_COMMIT && characters < CHARACTERS_PER_COMMIT) continue
    yield group
    group = []
    characters = 0
  }
  if (group.length > 0) yield group
}

type AcceptCounts = { readonly edits: number; readonly countDifference: number }

/** Accepts the edits found by one check of the store. */
async function acceptEdits(store: Store, config: Config, check: () => void): Promise<AcceptCounts> {
  const { database } = config
  const findings = await engineOf(database).check(database, config, EDITS_PER_CHECK)
  const [problem] = findings.problems
  if (problem !== undefined) throw new OpenError(`${problem}; see "plantstore check"`)
  const { edits, countDifference } = findings.differences
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
    const user = storeGuest({ makesDatabase: false, ...interactiveOptions(err) })
    const store = await openStore(config.database, user, config)
    try {
      return await interruptible(async (check) => {
        let [entries, correction] = [0, 0]
        for (;;) {
          const { edits, countDifference } = await acceptEdits(store, config, check)
          entries += edits
          correction += countDifference
          if (edits < EDITS_PER_CHECK) break
        }
        const sign = correction > 0 ? '+' : ''
        const count =
          correction === 0 ? '' : `; corrected the number of plants by ${sign}${correction}`
        out.write(`accepted ${countOf(entries, 'edited plant')}${count}\n`)
        return EXIT_CODES.ok
      })
    } finally {
      await store.close()
    }
  },
}
