import { localUrl } from '../address'
import type { Command } from '../command'

const PATIENCE_MS = 5000

export const health: Command = {
  name: 'health',
  usage: '',
  summary: 'ask the daemon whether it can write; exit 0 if so, 1 if not',
  help: 'For containers and supervisors. Asks GET /health at the configured address.',
  options: ['host', 'port'],
  async run({ config, out, err }) {
    const url = `${localUrl(config.host, config.port)}/health`
    try {
      // Never by the proxy of HTTP_PROXY, which containers are given for what they ask of others.
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const answer = await fetch(url, { proxy: false, signal })
      const text = await answer.text()
      if (answer.status === 200) {
        out.write(`ok ${url}\n`)
        return 0
      }
      err.write(`plantstore: ${url} answers ${answer.status}: ${text.slice(0, 200)}\n`)
    } catch (error) {
      err.write(
        `plantstore: ${url} does not answer: ${error instanceof Error ? error.message : error}\n`,
      )
    }
    return 1
  },
}
