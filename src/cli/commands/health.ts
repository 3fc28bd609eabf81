// plantstore health: queries the health of the daemon, for containers and supervisors.

import { localAddress } from '../../address'
import { type Config, namesProxy } from '../../config/config'
import { readTokenText } from '../../config/configured-token'
import { safeMessage, UsageError } from '../../errors'
import { createSendRequest } from '../../outbound/request'
import { EXIT_CODES } from '../../program'
import type { Command } from '../command'

const TIMEOUT_SECONDS = 5

function statusRequest(config: Config) {
  const token = readTokenText(config)
  if (token === null) throw new UsageError('--json needs PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE')
  return { path: 'status', headers: { authorization: `Bearer ${token}` } }
}

export const health: Command = {
  name: 'health',
  usage: '',
  summary: 'check that the daemon can write to its database',
  help: `Requests GET /health. Exit code 0 if the daemon can write, or a read-only one can read; 1 if not. For
containers, supervisors and cron. It finds the daemon by the same variables as "plantstore serve"; flags of the daemon
must be given here, too.
--json prints GET /status instead: also the version, the plants, the last backup and the change log.`,
  options: ['host', 'port', 'unix', 'tlsCert', 'quiet', 'json', 'token', 'tokenFile'],
  overrides: {
    host: { help: 'address that the daemon listens on' },
    port: { help: 'port that the daemon listens on' },
    unix: { help: 'connect to this unix socket instead of a port' },
    tlsCert: { help: 'connect by HTTPS; the file itself is not read' },
    json: { help: 'print the answer of GET /status; needs a token' },
    token: { help: 'the token for --json' },
    tokenFile: { help: 'a file with the token for --json' },
  },
  async run({ config, out, err }) {
    const { url: base, unix } = localAddress(config)
    const { path, headers } = config.json ? statusRequest(config) : { path: 'health', headers: {} }
    const url = unix ?? `${base}/${path}`
    const answer = await createSendRequest(namesProxy())(`${base}/${path}`, {
      headers,
      target: 'daemon',
      seconds: TIMEOUT_SECONDS,
      // The certificate names the daemon's public host, and HTTP_PROXY is meant for other machines.
      isLocal: true,
      ...(unix === null ? {} : { unix }),
    })
    const text = await answer.text()
    if (answer.status === 200 && config.json) {
      const { problem } = JSON.parse(text)
      if (!config.quiet || problem) out.write(`${text}\n`)
      return problem ? EXIT_CODES.failure : EXIT_CODES.ok
    }
    if (answer.status === 200) {
      // The daemon writes, so a supervisor must not restart it.
      if (text.includes('"damaged"')) {
        err.write(`plantstore: the database of ${url} is damaged; run "plantstore check"\n`)
      } else if (text.includes('"behind"')) {
        err.write(`plantstore: the replica at ${url} lags behind; see GET /status\n`)
      } else if (!config.quiet) out.write(`ok ${url}\n`)
      return EXIT_CODES.ok
    }
    err.write(`plantstore: ${url} answered ${answer.status}: ${safeMessage(text.slice(0, 200))}\n`)
    return EXIT_CODES.failure
  },
}
