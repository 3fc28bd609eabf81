// The token of the configuration: PLANTSTORE_TOKEN, or the file named by PLANTSTORE_TOKEN_FILE.

import { messageOf, UsageError } from '../errors'
import { readSecret } from '../files/input'
import type { Log } from '../log'
import { issueToken, isToken, MAX_TOKEN, type Token } from '../token/token'
import type { Config } from './config'

/** The variable that has the token of a configuration. */
const sourceOf = ({ tokenFile }: Config): string =>
  tokenFile === null ? 'PLANTSTORE_TOKEN' : 'PLANTSTORE_TOKEN_FILE'

/** The token of PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE; null if neither is set. */
export function readTokenText(config: Config): string | null {
  const { token, tokenFile } = config
  if (token !== null && tokenFile !== null) {
    throw new UsageError('set PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE, not both')
  }
  const text = tokenFile === null ? token : readSecret('PLANTSTORE_TOKEN_FILE', tokenFile).trim()
  if (text === null || isToken(text)) return text
  const rule = `must be 16 to ${MAX_TOKEN} letters, digits and -._~+/ (RFC 6750)`
  throw new UsageError(`${sourceOf(config)} ${rule}`)
}

/** The token of the configuration. `reload` reads its file again; if that has no valid token, the old one remains. */
export function watchToken(config: Config, log: Log) {
  const read = (): Token | null => {
    const text = readTokenText(config)
    return text === null ? null : issueToken(sourceOf(config), 'write', null, 0, text).token
  }
  let token = read()
  return {
    current: (): Token | null => token,
    reload(): void {
      if (config.tokenFile === null) return
      try {
        token = read()
        log('info', 'token-file-read', { file: config.tokenFile })
      } catch (error) {
        log('error', 'token-file-refused', { detail: messageOf(error) })
      }
    },
  }
}
