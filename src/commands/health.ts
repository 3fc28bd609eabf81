import type { Command } from './command'

const PATIENCE_MS = 5000

// A daemon that listens on every address is asked on this machine's own.
const toAsk = (host: string): string => {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** The address of the daemon, for a client on the same machine. */
export const localUrl = (host: string, port: number): string => `http://${toAsk(host)}:${port}`

export const health: Command = {
  name: 'health',
  usage: '',
  summary: 'ask the daemon whether it can write; exit 0 if so, 1 if not',
  help: 'For containers and supervisors. Asks GET /health at the configured address.',
  options: ['host', 'port'],
  async run({ config, out, err }) {
    const url = `${localUrl(config.host, config.port)}/health`
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
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
