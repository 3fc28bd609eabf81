// plantstore health: queries the health of the daemon, for containers and supervisors.

import { localAddress } from '../../address'
import { type Config, namesProxy } from '../../config/config'
import { readTokenText } from '../../config/configured-token'
import { UsageError } from '../../errors'
import { createSendRequest } from '../../outbound/request'
import { EXIT_CODES } from '../../program'
import { safeMessage } from '../../redaction'
import type { Command } from '../command'

const TIMEOUT_SECONDS = 5
/** Problems of a daemon that answers: a supervisor must not restart it. */
const WARNINGS: Readonly<Record<string, string>> = {
  damaged: 'is damaged; run "plantstore check"',
  behind: 'lags behind; see GET /status',
}

/** The authorization for GET /status. */
function authorize(config: Config) {
  const token = readTokenText(config)
  if (token === null) throw new UsageError('--json needs PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE')
  return { authorization: `Bearer ${token}` }
}

export const health: Command = {
  name: 'health',
  usage: '',
  summary: 'check that the daemon can write to its database',
  help: `Requests GET /health, for containers, supervisors and cron. Exit code 0 if the
daemon can write, or a read-only one can read; 1 if not. It finds the daemon by
the variables of "plantstore serve"; flags must be repeated. The file of
--tls-cert is not read.

--json prints GET /status instead, with the token in PLANTSTORE_TOKEN or
PLANTSTORE_TOKEN_FILE: also the version, the last backup and the change log.`,
  options: ['host', 'port', 'unix', 'tlsCert', 'quiet', 'json', 'token', 'tokenFile'],
  async run({ config, out, err }) {
    const { url: base, unix } = localAddress(config)
    const path = config.json ? 'status' : 'health'
    const url = unix ?? `${base}/${path}`
    const answer = await createSendRequest(namesProxy())(`${base}/${path}`, {
      headers: config.json ? authorize(config) : {},
      target: 'daemon',
      seconds: TIMEOUT_SECONDS,
      // The certificate names the daemon's public host, and HTTP_PROXY is meant for other machines.
      isLocal: true,
      ...(unix === null ? {} : { unix }),
    })
    const text = await answer.text()
    if (answer.status !== 200) {
      const reason = `${answer.status}: ${safeMessage(text.slice(0, 200))}`
      err.write(`plantstore: ${url} answered ${reason}\n`)
      return EXIT_CODES.failure
    }
    const { status, problem } = JSON.parse(text)
    const warning = config.json ? undefined : WARNINGS[status]
    if (warning !== undefined) err.write(`plantstore: the database of ${url} ${warning}\n`)
    else if (!config.quiet || problem) out.write(config.json ? `${text}\n` : `ok ${url}\n`)
    return problem ? EXIT_CODES.failure : EXIT_CODES.ok
  },
}
