// plantstore changes: prints the log of changes.

import type { Change } from '../client/client'
import { type Command, exitCodes } from '../command'
import { openSource } from '../follow/source'
import { databaseOptions } from '../options'
import { toJson } from '../plant-json'
import { interruptCode, watchInterrupt } from '../terminal/interrupt'

const toLine = (change: Change): string => `${JSON.stringify(toJson(change))}\n`

export const changes: Command = {
  name: 'changes',
  usage: '',
  summary: 'print what changed, or follow it',
  help: `Prints the log of changes as NDJSON, the oldest first: from the database, or with --url from a daemon, with the token of PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE. --follow goes on with what happens; over any loss of connection to a daemon. Each line has a cursor, after which --after goes on.`,
  options: ['after', 'follow', 'url', ...databaseOptions, 'token', 'tokenFile'],
  wording: {
    token: { help: 'the token for --url' },
    tokenFile: { help: 'a file with the token for --url' },
  },
  async run({ config, out }) {
    const source = await openSource(config)
    const { signal, end } = watchInterrupt()
    let after = config.after ?? undefined
    try {
      for (let isMore = true; isMore && !signal.aborted; ) {
        const page = await source.page(after)
        if (!out.write(page.changes.map(toLine).join(''))) return exitCodes.ok
        after = page.next
        isMore = page.changes.length > 0
      }
      if (config.follow) {
        for await (const change of source.follow(after, signal)) {
          if (!out.write(toLine(change))) break
        }
      }
      return signal.aborted ? interruptCode(signal.reason) : exitCodes.ok
    } finally {
      end()
      await source.close()
    }
  },
}
