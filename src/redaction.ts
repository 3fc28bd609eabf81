// Messages without secrets.

import { messageOf, OpenError, UsageError } from './errors'
import { RequestError } from './request-errors'

// A URL within a text, up to a space or a quote.
const URL_IN_TEXT = /[a-z][a-z\d+.-]{0,20}:\/\/[^\s"]+/gi
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed.
const CONTROLS = /[\x00-\x1f\x7f-\x9f]+/g
// Shorter secrets occur in any text.
const MIN_SECRET_LENGTH = 3

/** A text with each URL reduced to scheme and host, as the rest may be secret. */
export const cutUrls = (text: string): string =>
  text.replace(URL_IN_TEXT, (url) => {
    const { protocol = url.slice(0, url.indexOf(':') + 1), host = '' } = URL.parse(url) ?? {}
    return `${protocol}//${host || '…'}`
  })

const isOwn = (error: unknown): boolean =>
  [RequestError, OpenError, UsageError].some((kind) => error instanceof kind)

/**
 * The message of an error, for users and logs. The program's own errors are unchanged; those of the runtime or of a
 * server become one line, without this secret, and with URLs reduced.
 */
export function safeMessage(error: unknown, secret = ''): string {
  if (isOwn(error)) return messageOf(error)
  const message = messageOf(error)
  const redaction = secret.length < MIN_SECRET_LENGTH ? message : message.replaceAll(secret, '…')
  return cutUrls(redaction).replace(CONTROLS, ' ')
}
