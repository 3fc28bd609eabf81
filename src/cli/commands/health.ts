// plantstore health: asks the daemon whether it is healthy, for containers and supervisors.

import { codeOf, explainRefused } from '../../errors'
import { localAddress } from '../../sockets/address'
import { type Command, exitCodes } from '../command'

const PATIENCE_MS = 5000

function explain(error: unknown, host: string, url: string): string {
  const refused = explainRefused(error, url)
  if (refused) return refused
  if (codeOf(error) === 'ENOTFOUND') return `cannot resolve host ${host}`
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  if (name === 'TimeoutError') return `no answer from ${url} within ${PATIENCE_MS / 1000} s`
  return `no answer from ${url}: ${message}`
}

export const health: Command = {
  name: 'health',
  usage: '',
  summary: 'ask the daemon whether it can write to its database',
  help: 'Asks GET /health at the configured address. Exit code 0 if the daemon can write, 1 if not. For containers and supervisors.',
  options: ['host', 'port', 'unix', 'tlsCert'],
  wording: {
    host: { help: 'address that the daemon listens on' },
    port: { help: 'port that the daemon listens on' },
    unix: { help: 'ask at this unix socket instead of a port' },
    tlsCert: { help: 'ask by HTTPS; the file itself is not read' },
  },
  async run({ config, out, err }) {
    const { url: base, unix } = localAddress(config)
    const url = unix ?? `${base}/health`
    try {
      const answer = await fetch(`${base}/health`, {
        // Not through HTTP_PROXY, which in containers is meant for other hosts.
        proxy: false,
        signal: AbortSignal.timeout(PATIENCE_MS),
        // The certificate names the daemon's public host. No secret is sent.
        ...(config.tlsCert === null ? {} : { tls: { rejectUnauthorized: false } }),
        ...(unix === null ? {} : { unix }),
      })
      const text = await answer.text()
      if (answer.status === 200) {
        out.write(`ok ${url}\n`)
        return exitCodes.ok
      }
      err.write(`plantstore: ${url} answered ${answer.status}: ${text.slice(0, 200)}\n`)
    } catch (error) {
      err.write(`plantstore: ${explain(error, config.host, url)}\n`)
    }
    return exitCodes.failure
  },
}
