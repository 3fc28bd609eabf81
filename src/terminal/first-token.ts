// Shows the first token of a store, with a command that uses it.

import type { LocalAddress } from '../address'
import type { Log } from '../log'
import type { Store } from '../store'
import { issueToken } from '../token'
import type { LogWriter } from './log-writer'

const NAME = 'first'
// How long to wait for a reader of the token.
const SHOW_MS = 5000

/** Quotes a word for a shell. */
export const quote = (word: string): string =>
  /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** Where to send the first request, and whether the client must be told to trust the certificate. */
export type Target = LocalAddress & { readonly needsTrust: boolean }

function curl({ url, unix, needsTrust }: Target, token: string): string {
  const flags = [
    ...(needsTrust ? ['-k'] : []),
    ...(unix === null ? [] : [`--unix-socket ${quote(unix)}`]),
    `-H 'Authorization: Bearer ${token}'`,
    `-H 'Content-Type: application/json'`,
    `-d '{"id":1,"name":"Monstera deliciosa","tag":"aroid"}'`,
  ]
  return `curl ${flags.join(' ')} ${url}/plants`
}

/** Prints a first token if the store has none; revokes it if nobody can have read it. */
export async function showFirstToken(
  store: Store,
  target: Target,
  out: LogWriter,
  log: Log,
): Promise<void> {
  if ((await store.listTokens()).length > 0) return
  const { text, token } = issueToken(NAME, 'write', null, Date.now())
  if (!(await store.createToken(token))) return
  const before = out.dropped()
  out.write(`
The first token, shown only once:

  ${text}

Create a plant:

  ${curl(target, text)}

`)
  if ((await out.flush(SHOW_MS)) && out.dropped() === before) return
  await store.revokeToken(NAME, Date.now())
  log('warn', 'token-not-shown', { detail: 'nobody read it, so it was revoked' })
}
