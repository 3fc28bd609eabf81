// plantstore changes: prints the change log.

import type { Change } from '../../client/client'
import { namesProxy } from '../../config/config'
import { createSendRequest } from '../../outbound/request'
import { toJson } from '../../plant/json'
import { EXIT_CODES } from '../../program'
import { openSource, SOURCE_OPTIONS, SOURCE_OVERRIDES } from '../change-source'
import type { Command } from '../command'
import { interruptCode, watchInterrupt } from '../terminal/interrupt'
import { commandLog } from '../terminal/suspend'

const toLine = (change: Change): string => `${JSON.stringify(toJson(change))}\n`

export const changes: Command = {
  name: 'changes',
  usage: '',
  summary: 'print the change log, or follow it',
  help: `Prints the change log as NDJSON, oldest first: from the database, or with --url from a daemon, with the token
in PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE. --follow keeps printing new changes; with --url, it reconnects after an
outage. Each line has a cursor: pass the last one to --after to resume.`,
  options: ['after', 'follow', ...SOURCE_OPTIONS],
  overrides: SOURCE_OVERRIDES,
  async run({ config, out, err }) {
    const source = await openSource(config, {
      sendRequest: createSendRequest(namesProxy()),
      report: (line) => err.write(`plantstore: ${line}\n`),
      log: commandLog(err),
    })
    try {
      using signal = watchInterrupt()
      let after = config.after ?? undefined
      // Stop at the present end: changes may be added faster than they are printed.
      const { next: lastCursor } = await source.page('now')
      if (config.follow) {
        for await (const change of source.follow(after, signal)) {
          if (!out.write(toLine(change))) break
        }
      }
      for (let isMore = !config.follow && after !== lastCursor; isMore && !signal.aborted; ) {
        const { changes, next } = await source.page(after)
        const last = changes.findIndex(({ cursor }) => cursor === lastCursor)
        const lines = (last < 0 ? changes : changes.slice(0, last + 1)).map(toLine)
        if (!out.write(lines.join(''))) return EXIT_CODES.ok
        after = next
        isMore = last < 0 && changes.length > 0
      }
      return signal.aborted ? interruptCode(signal) : EXIT_CODES.ok
    } finally {
      await source.close()
    }
  },
}
