// plantstore changes: prints the change log.

import type { Change } from '../../client/client'
import { toJson } from '../../plant/json'
import { EXIT_CODES } from '../../program'
import { openSource, SOURCE_OPTIONS } from '../change-source'
import type { Command } from '../command'
import { interruptible } from '../terminal/interrupt'

const toLine = (change: Change): string => `${JSON.stringify(toJson(change))}\n`

export const changes: Command = {
  name: 'changes',
  usage: '',
  summary: 'print the change log, or follow it',
  help: `Prints the change log as NDJSON, oldest first: from the database, or with --url
from a daemon, with the token in PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE.
--follow keeps printing new changes, even after an outage. Each line has a
cursor: pass the last one to --after to resume.`,
  options: ['after', 'follow', ...SOURCE_OPTIONS],
  async run(context) {
    const { config, out } = context
    const source = await openSource(context)
    const print = async (signal: AbortSignal): Promise<number> => {
      let after = config.after ?? undefined
      // The present end: changes may be added faster than they are printed.
      const { next: lastCursor } = await source.page('now')
      if (config.follow) {
        for await (const change of source.follow(after, signal)) {
          if (!out.write(toLine(change))) return EXIT_CODES.ok
        }
      }
      signal.throwIfAborted()
      while (after !== lastCursor) {
        const { changes, next } = await source.page(after)
        const isWritten = out.write(changes.map(toLine).join(''))
        const isEnd = changes.length === 0 || changes.some(({ cursor }) => cursor === lastCursor)
        signal.throwIfAborted()
        after = isWritten && !isEnd ? next : lastCursor
      }
      return EXIT_CODES.ok
    }
    return interruptible(print).finally(() => source.close())
  },
}
