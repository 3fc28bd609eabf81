// plantstore health: queries the health of the daemon, for containers and supervisors.

import { localAddress } from '../../address'
import { readProxies } from '../../config/config'
import { safeMessage } from '../../errors'
import { createSendRequest } from '../../outbound/request'
import { exitCodes } from '../../program'
import type { Command } from '../command'

const PATIENCE_SECONDS = 5

export const health: Command = {
  name: 'health',
  usage: '',
  summary: 'check that the daemon can write to its database',
  help: `Requests GET /health. Exit code 0 if the daemon can write, 1 if not. For containers, supervisors and cron. It
finds the daemon by the same variables as "plantstore serve"; flags of the daemon must be given here, too.`,
  options: ['host', 'port', 'unix', 'tlsCert', 'quiet'],
  overrides: {
    host: { help: 'address that the daemon listens on' },
    port: { help: 'port that the daemon listens on' },
    unix: { help: 'connect to this unix socket instead of a port' },
    tlsCert: { help: 'connect by HTTPS; the file itself is not read' },
  },
  async run({ config, out, err }) {
    const { url: base, unix } = localAddress(config)
    const url = unix ?? `${base}/health`
    const answer = await createSendRequest(readProxies())(`${base}/health`, {
      target: 'daemon',
      seconds: PATIENCE_SECONDS,
      // The certificate names the daemon's public host, and HTTP_PROXY is meant for other machines.
      isLocal: true,
      ...(unix === null ? {} : { unix }),
    })
    const text = await answer.text()
    if (answer.status === 200) {
      // The daemon writes, so a supervisor must not restart it.
      if (text.includes('"damaged"')) {
        err.write(`plantstore: the database of ${url} is damaged; run "plantstore check"\n`)
      } else if (!config.quiet) out.write(`ok ${url}\n`)
      return exitCodes.ok
    }
    err.write(`plantstore: ${url} answered ${answer.status}: ${safeMessage(text.slice(0, 200))}\n`)
    return exitCodes.failure
  },
}
