import { readFileSync } from 'node:fs'
import packageJson from '../../package.json'
import type { Command, Output } from '../command'
import type { Config } from '../config'
import { openStore } from '../engine/open-store'
import { daemon } from '../engine/role'
import { UsageError } from '../errors'
import { createApp } from '../http/app'
import { drain, listen } from '../http/server'
import { createLog, type Log } from '../log'
import { createMetrics } from '../metrics'
import type { Store } from '../store'
import { hashToken, isToken, LONGEST_TOKEN, type Token } from '../token'
import { isEveryAddress, localUrl } from './health'
import { addToken } from './token'

function configuredToken({ token, tokenFile }: Config): Token | null {
  if (token !== null && tokenFile !== null) {
    throw new UsageError('set PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE, not both')
  }
  const source = token === null ? 'PLANTSTORE_TOKEN_FILE' : 'PLANTSTORE_TOKEN'
  let text = token
  try {
    if (tokenFile !== null) text = readFileSync(tokenFile, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`PLANTSTORE_TOKEN_FILE cannot be read: ${(error as Error).message}`)
  }
  if (text === null) return null
  if (!isToken(text)) {
    throw new UsageError(
      `${source} must be 16 to ${LONGEST_TOKEN} letters, digits and -._~+/ (RFC 6750)`,
    )
  }
  return {
    name: source,
    hash: hashToken(text),
    scope: 'write',
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
  }
}

const curl = (url: string, token: string): string =>
  `curl -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa","tag":"aroid"}' ${url}/plants`

// The daemon serves, be its standard output read or not.
function show(out: Output, text: string): boolean {
  try {
    return out.write(text)
  } catch {
    return false
  }
}

const FIRST = 'first'

/** Prints the first token of a store without any. */
async function introduce(
  store: Store,
  url: string,
  isConfigured: boolean,
  out: Output,
  log: Log,
): Promise<void> {
  if (isConfigured || (await store.listTokens()).length > 0) return
  const token = await addToken(store, FIRST, 'write', null, Date.now())
  if (token === null) return
  const isShown = show(
    out,
    `
The store has no token yet. This is its first, shown once:

  ${token}

Create a plant:

  ${curl(url, token)}

`,
  )
  if (isShown) return
  await store.revokeToken(FIRST, Date.now())
  log('warn', 'token-not-shown', { detail: 'make one with "plantstore token create"' })
}

/** Resolves at the first signal to stop; calls `hurry` at the second. */
function stopSignal(hurry: () => void): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let signals = 0
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        signals += 1
        if (signals === 1) resolve(signal)
        else hurry()
      })
    }
  })
}

export const serve: Command = {
  name: 'serve',
  usage: '',
  summary: 'serve plants over HTTP',
  help: `Prints the first token of a new store, with a curl line that creates a plant. Stops on SIGTERM and SIGINT:
answers what is in flight, then closes the database. A second signal ends the wait.`,
  options: [
    'host',
    'port',
    'database',
    'maxBodyBytes',
    'stopSeconds',
    'logRequests',
    'token',
    'tokenFile',
  ],
  async run({ config, out, err }) {
    const log = createLog((line) => err.write(line), err.isTTY ? 'text' : 'json', Date.now)
    const metrics = createMetrics()
    const token = configuredToken(config)
    let isStopping = false
    let deadline = Number.POSITIVE_INFINITY
    const stopped = stopSignal(() => {
      deadline = 0
    })

    const store = await openStore(config.database, daemon(log, metrics.committed))
    try {
      const app = createApp({
        store,
        metrics,
        log,
        now: Date.now,
        configuredToken: token,
        maxBodyBytes: config.maxBodyBytes,
        logRequests: config.logRequests,
        isStopping: () => isStopping,
      })
      const { host, database } = config
      const server = listen(app, config, log)
      const url = localUrl(host, server.port ?? config.port)
      log('info', 'listening', { url, host, database, version: packageJson.version })
      const others = isEveryAddress(host) ? ', and every other address of this machine' : ''
      show(out, `plantstore ${packageJson.version} listens on ${url}${others}\n`)
      await introduce(store, url, token !== null, out, log)

      const signal = await stopped
      log('info', 'stopping', { signal })
      isStopping = true
      deadline = Math.min(deadline, performance.now() + config.stopSeconds * 1000)
      await drain(server, () => performance.now() > deadline)
    } finally {
      await store.close()
    }
    log('info', 'stopped')
    return 0
  },
}
