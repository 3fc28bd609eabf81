// plantstore serve: the options and the help of the daemon.

import { DAEMON_OPTIONS } from '../../config/options'
import type { Command } from '../command'

export const serve: Command = {
  name: 'serve',
  usage: '',
  summary: 'serve plants over HTTP',
  help: `The first start prints a token and a curl command that creates a plant, unless
PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE has a token.

--keep-changes enables the change log, or changes its retention period. Without
it, the last setting stays in force; only "off" removes the change log.

SIGTERM and SIGINT stop it after the requests in flight. SIGHUP rereads
PLANTSTORE_TOKEN_FILE.`,
  options: DAEMON_OPTIONS,
  async run({ config, unknownVariables, out, err }) {
    const { runDaemon } = await import('../../daemon/daemon')
    return runDaemon({
      config,
      unknownVariables,
      printsToTerminal: out.isTTY && !out.isDiscarded,
      logsToTerminal: err.isTTY,
      isDiscarded: out.isDiscarded,
    })
  },
}
