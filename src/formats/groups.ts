// The plants of a file, in groups that are stored together.

import { charactersOf } from '../plant'
import type { Entry } from './entry'

// The store queues no more than 8 million characters.
const AT_ONCE = 1000
const CHARACTERS_AT_ONCE = 4_000_000

/** Groups of at most 1000 entries and 4 million characters; only a single entry may have more. */
export async function* grouped(parts: AsyncIterable<readonly Entry[]>): AsyncGenerator<Entry[]> {
  let group: Entry[] = []
  let characters = 0
  for await (const entries of parts) {
    for (const entry of entries) {
      const more = 'plant' in entry ? charactersOf(entry.plant) : 0
      const isTooMuch = characters + more > CHARACTERS_AT_ONCE && group.length > 0
      if (group.length === AT_ONCE || isTooMuch) {
        yield group
        group = []
        characters = 0
      }
      group.push(entry)
      characters += more
    }
  }
  if (group.length > 0) yield group
}
