// The first lines of a daemon: its address, and the first token.

import { resolve } from 'node:path'
import packageJson from '../../package.json'
import type { LocalAddress } from '../address'
import type { Config } from '../config/config'
import type { Log } from '../log'
import { COMMIT, quote } from '../program'
import type { Store } from '../store'
import { issueToken } from '../token/token'
import type { LogWriter } from './log-writer'

const NAME = 'first'
// Maximum wait for a reader of the token.
const SHOW_MS = 5000

/** The circumstances of a start. */
export type StartOptions = {
  readonly config: Config
  readonly unknownVariables: readonly string[]
  /** True if standard output is a terminal. */
  readonly printsToTerminal: boolean
  /** True if standard error is one. */
  readonly logsToTerminal: boolean
  /** True if standard output is discarded. */
  readonly isDiscarded: boolean
}

/** The facts in the first lines of a daemon. */
type Announcement = StartOptions & {
  readonly address: LocalAddress
  /** Its database: a path or a URL, without its password. `isNew`: this start has created it. */
  readonly place: { readonly name: string; readonly isNew: boolean }
  /** True if clients need a token of the store, and this process may make one. */
  readonly needsToken: boolean
}

function curl({ url, unix }: LocalAddress, token: string): string {
  // A certificate is seldom one for this machine's own address.
  const insecure = url.startsWith('https:') ? '-k ' : ''
  const socket = unix === null ? '' : `--unix-socket ${quote(resolve(unix))} `
  return `curl ${insecure}${socket}-H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa","tag":"aroid"}' ${quote(`${url}/plants`)}`
}

/** Prints a first token if the store has none; revokes it if no reader can have received it. */
async function showFirstToken(
  store: Store,
  { address, isDiscarded }: Announcement,
  link: (token: string) => string,
  out: LogWriter,
  log: Log,
): Promise<void> {
  if ((await store.listTokens()).length > 0) return
  if (isDiscarded) return log('warn', 'token-not-shown')
  const { text, token } = issueToken(NAME, 'write', null, Date.now())
  if (!(await store.createToken(token))) return
  out.write(`
The first token, shown only once:

  ${text}

${link(text)}Create a plant:

  ${curl(address, text)}

`)
  if (await out.flush(SHOW_MS)) return
  await store.revokeToken(NAME, Date.now())
  log('warn', 'token-not-shown')
}

/** Logs that the daemon is listening, and prints instructions. A store without tokens gets its first one. */
export async function announce(
  store: Store,
  facts: Announcement,
  out: LogWriter,
  log: Log,
): Promise<void> {
  const { config, address, place } = facts
  const { host, readOnly } = config
  const { url, unix } = address
  const { version } = packageJson
  const listener = unix === null ? { host } : { unix }
  const database = place.name
  log('info', 'listening', { url, ...listener, database, readOnly, version, commit: COMMIT })
  // Browsers open no unix socket.
  const page = config.console && unix === null ? `${url}/` : null
  if (page !== null) out.write(`console: ${page}\n`)
  if (place.isNew) out.write(`created the database ${database}\n`)
  if (!facts.needsToken) return
  // The token is in the fragment, which browsers never send.
  const link = (token: string) =>
    page !== null && facts.printsToTerminal
      ? `Open the console with it:\n\n  ${page}#token=${token}\n\n`
      : ''
  await showFirstToken(store, facts, link, out, log)
  // From a clone, as its README runs it.
  const program = Bun.isStandaloneExecutable
    ? quote(process.execPath)
    : `npx --yes bun@${Bun.version} ${quote(Bun.main)}`
  out.write(`to make another token: ${program} token create laptop --database ${quote(database)}\n`)
}
