// plantstore forward: posts every change to a webhook, in order, at least once.

import { existsSync } from 'node:fs'
import { CURSOR, NOW } from '../../change-log/change-log'
import type { Failure } from '../../client/client'
import { type Config, namesProxy } from '../../config/config'
import { engineOf } from '../../engine/engine'
import { OpenError, UsageError } from '../../errors'
import { readText } from '../../files/input'
import { beginFile } from '../../files/replace-file'
import { createSendRequest } from '../../outbound/request'
import { deliver, parseSecrets, type Receiver } from '../../outbound/webhook'
import { EXIT_CODES } from '../../program'
import { openSource, SOURCE_OPTIONS } from '../change-source'
import type { Command, CommandContext } from '../command'
import { watchInterrupt } from '../terminal/interrupt'

/** The cursor of the last change accepted by the receiver; undefined if none has been sent. */
function readCursor(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  const cursor = readText(path).trim()
  if (CURSOR.test(cursor)) return cursor
  throw new OpenError(`${path} has no cursor; remove it to begin with the oldest change`)
}

const databaseFiles = ({ url, database }: Config): readonly string[] =>
  url === null ? engineOf(database).locate(database).files : []

function receiverOf(args: readonly string[], secretFile: string): Receiver {
  const [text] = args
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : null
  if (args.length !== 1 || !url || !/^https?:$/.test(url.protocol))
    throw new UsageError('give exactly one URL, which begins with https:// or http://')
  return { url, keys: parseSecrets(readText(secretFile)) }
}

async function forwardChanges(context: CommandContext): Promise<number> {
  const { config, args, err } = context
  const { cursorFile, secretFile } = config
  if (!cursorFile || !secretFile) throw new UsageError('give --cursor-file and --secret-file')
  // If the cursor could not be saved, each start would send the same changes again.
  await using file = await beginFile(cursorFile, 'replace', [secretFile, ...databaseFiles(config)])
  async function saveCursor(text: string): Promise<void> {
    await file.write((temp) => Bun.write(temp, `${text}\n`))
    await file.place()
  }
  const receiver = receiverOf(args, secretFile)
  let cursor = readCursor(cursorFile)
  const report = (line: string) => err.write(`plantstore: ${line}\n`)
  const sendRequest = createSendRequest(namesProxy())
  const source = await openSource(context)
  try {
    using signal = watchInterrupt()
    if (cursor === undefined && config.after !== null) {
      // Read before it is saved, so that an invalid cursor is refused.
      const { next } = await source.page(config.after)
      cursor = config.after === NOW ? next : config.after
      await saveCursor(cursor)
    }
    // The path may be a secret.
    const { host } = receiver.url
    report(`forwarding to ${host}, from ${cursor ?? 'the oldest change'}`)
    for await (const change of source.follow(cursor, signal)) {
      const onFailure = ({ message }: Failure, seconds: number) =>
        report(`not delivered; next attempt in ${Math.ceil(seconds)} s: ${message}`)
      const outcome = await deliver(sendRequest, receiver, change, signal, onFailure)
      if (outcome === 'gone') report(`${host} answered 410 Gone; stopping`)
      if (outcome !== 'accepted') break
      await saveCursor(change.cursor)
    }
    return EXIT_CODES.ok
  } finally {
    await source.close()
  }
}

export const forward: Command = {
  name: 'forward',
  usage: 'URL',
  summary: 'post every change to a URL, as webhooks',
  help: `Posts each entry of the change log to URL, in order and at least once, signed
according to Standard Webhooks (https://www.standardwebhooks.com). Reads the
same sources as "plantstore changes".

A change is retried until the response is 2xx, with pauses that grow from 1
second to an hour; Retry-After is obeyed. 410 Gone ends the command.

--cursor-file saves the cursor of the last delivered change, after which the
next start resumes; the first starts with the oldest change, or after --after.
--secret-file has one secret per line; to create one:

  (umask 077; key=$(openssl rand -base64 32) && echo "whsec_$key" > secret)`,
  options: ['cursorFile', 'secretFile', 'after', ...SOURCE_OPTIONS],
  run: forwardChanges,
}
