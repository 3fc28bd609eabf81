// plantstore tags: prints the tags of all plants, each with the number of its plants.

import { DATABASE_OPTIONS } from '../../config/options'
import { engineOf, type PlantParts } from '../../engine/engine'
import { EXIT_CODES } from '../../program'
import type { Command } from '../command'
import { commandLog } from '../terminal/suspend'

const PART_LINES = 1000

async function countTags(parts: PlantParts): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for await (const part of parts) {
    for (const { tag } of part) {
      if (tag !== undefined) counts.set(tag, (counts.get(tag) ?? 0) + 1)
    }
  }
  return counts
}

/** The lines of the tags, in the order of code points, which differs from JavaScript's order of UTF-16. */
const linesOf = (counts: ReadonlyMap<string, number>): string[] =>
  [...counts]
    .map(([tag, plants]) => ({ tag, plants, bytes: Buffer.from(tag) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ tag, plants }) => `${JSON.stringify({ tag, plants })}\n`)

export const tags: Command = {
  name: 'tags',
  usage: '',
  summary: 'print every tag and its number of plants',
  help: `Prints each tag that plants have, with the number of its plants, as NDJSON in the order of code points. Counts
the plants as of one moment; those without a tag are not counted. Works while the daemon runs, and writes nothing to the
database. GET /tags of the daemon has the same.`,
  options: DATABASE_OPTIONS,
  async run({ config, out, err }) {
    const { database } = config
    const log = commandLog(err)
    const counts = await engineOf(database).readAll(database, config, 'repeatable', log, countTags)
    const lines = linesOf(counts)
    for (let start = 0; start < lines.length; start += PART_LINES) {
      if (!out.write(lines.slice(start, start + PART_LINES).join(''))) break
    }
    return EXIT_CODES.ok
  },
}
