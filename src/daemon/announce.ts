// The first lines of a daemon: its address, and the first token.

import { resolve } from 'node:path'
import packageJson from '../../package.json'
import { isWildcard, type LocalAddress } from '../address'
import type { Config } from '../config/config'
import type { Log } from '../log'
import { COMMIT, quote } from '../program'
import type { Store } from '../store'
import { issueToken } from '../token/token'
import type { LogWriter } from './log-writer'

const NAME = 'first'
// Maximum wait for a reader of the token.
const SHOW_MS = 5000

/** What the first lines say of a daemon. */
type Announcement = {
  readonly config: Config
  readonly address: LocalAddress
  /** Its database: a path or a URL, without its password. `isNew`: this start has created it. */
  readonly place: { readonly name: string; readonly isNew: boolean }
  /** True if standard error, and standard output, is a terminal; what it prints there is not logged. */
  readonly logsToTerminal: boolean
  readonly printsToTerminal: boolean
  /** True if standard output is discarded. */
  readonly isDiscarded: boolean
  /** True if clients need a token of the store, and this process may make one. */
  readonly needsToken: boolean
  /** True if clients must be told to trust the certificate. */
  readonly needsTrust: boolean
}

function curl({ address: { url, unix }, needsTrust }: Announcement, token: string): string {
  const flags = [
    ...(needsTrust ? ['-k'] : []),
    ...(unix === null ? [] : [`--unix-socket ${quote(resolve(unix))}`]),
    `-H 'Authorization: Bearer ${token}'`,
    `-H 'Content-Type: application/json'`,
    `-d '{"id":1,"name":"Monstera deliciosa","tag":"aroid"}'`,
  ]
  return `curl ${flags.join(' ')} ${quote(`${url}/plants`)}`
}

/** The URL of the console; null if browsers cannot open it. */
const consoleOf = ({ config, address: { url, unix } }: Announcement): string | null =>
  config.console && unix === null ? `${url}/` : null

/** A link to the console with the token in its fragment, which browsers never send. */
function openedConsole(facts: Announcement, token: string): string {
  const page = facts.printsToTerminal ? consoleOf(facts) : null
  if (page === null) return ''
  return `Open the console with it:\n\n  ${page}#token=${token}\n\n`
}

/** Prints a first token if the store has none; revokes it if no reader can have received it. */
async function showFirstToken(
  store: Store,
  facts: Announcement,
  out: LogWriter,
  log: Log,
): Promise<void> {
  if ((await store.listTokens()).length > 0) return
  if (facts.isDiscarded) {
    const detail = 'standard output is closed or /dev/null, so no token was made'
    log('warn', 'token-not-shown', { detail })
    return
  }
  const { text, token } = issueToken(NAME, 'write', null, Date.now())
  if (!(await store.createToken(token))) return
  const dropCount = out.droppedLines()
  out.write(`
The first token, shown only once:

  ${text}

${openedConsole(facts, text)}Create a plant:

  ${curl(facts, text)}

`)
  if ((await out.flush(SHOW_MS)) && out.droppedLines() === dropCount) return
  await store.revokeToken(NAME, Date.now())
  log('warn', 'token-not-shown', { detail: 'it could not be printed, so it was revoked' })
}

/** Logs that the daemon is listening, and prints instructions. A store without tokens gets its first one. */
export async function announce(
  store: Store,
  facts: Announcement,
  out: LogWriter,
  log: Log,
): Promise<void> {
  const { config, address, place, printsToTerminal } = facts
  const { host, readOnly, logFormat } = config
  const { version } = packageJson
  // The address is shown once: in the log, or on the terminal.
  if (!printsToTerminal || !facts.logsToTerminal || logFormat !== 'auto') {
    const listener = address.unix === null ? { host } : { unix: address.unix }
    const program = { version, commit: COMMIT }
    const { name: database } = place
    log('info', 'listening', { url: address.url, ...listener, database, readOnly, ...program })
  }
  if (printsToTerminal) {
    const interfaces = address.unix === null && isWildcard(host) ? ' (all interfaces)' : ''
    out.write(`plantstore ${version} listens on ${address.unix ?? address.url}${interfaces}\n`)
    if (readOnly) out.write('this daemon is read-only\n')
  }
  const page = consoleOf(facts)
  if (page !== null) out.write(`console: ${page}\n`)
  if (place.isNew) out.write(`created the database ${place.name}\n`)
  if (!facts.needsToken) return
  await showFirstToken(store, facts, out, log)
  // From a clone, as its README runs it.
  const program = Bun.isStandaloneExecutable
    ? quote(process.execPath)
    : `npx --yes bun@${Bun.version} ${quote(Bun.main)}`
  const create = `${program} token create laptop --database ${quote(place.name)}`
  out.write(`to make another token: ${create}\n`)
}
