// The source of a command's changes: a daemon, or a database.

import {
  type Change,
  type ChangePage,
  ClientError,
  createClient,
  type Fetch,
} from '../client/client'
import { type Config, namesProxy } from '../config/config'
import { readTokenText } from '../config/configured-token'
import { DATABASE_OPTIONS } from '../config/options'
import { engineOf } from '../engine/engine'
import { OpenError, UsageError } from '../errors'
import { reportOutages } from '../outbound/outages'
import { createSendRequest } from '../outbound/request'
import type { CommandContext } from './command'
import { commandLog } from './terminal/suspend'

const PAGE_CHANGES = 1000
const TIMEOUT_SECONDS = 30

/** The options that name a source. */
export const SOURCE_OPTIONS = ['url', ...DATABASE_OPTIONS, 'token', 'tokenFile'] as const

type Source = {
  /** The changes after a cursor, oldest first; `next` is the cursor of the following page. */
  page(after: string | undefined): Promise<ChangePage>
  /** Every change after a cursor, past and future, until the signal is aborted. */
  follow(after: string | undefined, signal: AbortSignal): AsyncIterable<Change>
  close(): Promise<void>
}

function daemonAt(url: string, config: Config, report: (line: string) => void): Source {
  const token = readTokenText(config)
  if (token === null) throw new UsageError('--url needs PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE')
  const sendRequest = createSendRequest(namesProxy())
  const send = (isStream: boolean): Fetch => {
    const options = { target: 'daemon', seconds: TIMEOUT_SECONDS, isStream } as const
    return (address, init) => sendRequest(address, { ...init, ...options })
  }
  const client = createClient({ url, token, fetch: send(false) })
  const stream = reportOutages(send(true), new URL(url).origin, report)
  const follower = createClient({ url, token, fetch: stream })
  return {
    async page(after) {
      const page = await client.listChanges({ after, limit: PAGE_CHANGES })
      if (page.ok) return page.value
      throw page.cause instanceof OpenError ? page.cause : new ClientError(page)
    },
    follow: (after, signal) => follower.changes({ after, signal }),
    close: async () => {},
  }
}

async function openDatabase({ config, err }: CommandContext): Promise<Source> {
  const { database } = config
  const { openReadOnly } = engineOf(database)
  const { changeLog, close } = await openReadOnly(database, config, commandLog(err))

  async function page(after: string | undefined) {
    const { entries, next } = await changeLog.read({ limit: PAGE_CHANGES, after })
    return { changes: entries, next }
  }

  async function* follow(after: string | undefined, signal: AbortSignal) {
    let nextChange = Promise.withResolvers<void>()
    const wake = () => nextChange.resolve()
    const unwatch = changeLog.watch(wake)
    signal.addEventListener('abort', wake)
    try {
      for (let cursor = after; !signal.aborted; ) {
        nextChange = Promise.withResolvers()
        const { changes, next } = await page(cursor)
        yield* changes
        cursor = next
        if (changes.length === 0 && !signal.aborted) await nextChange.promise
      }
    } finally {
      unwatch()
    }
  }

  return { page, follow, close }
}

/** Opens the source named by the options: `--url`, or else `--database`. */
export async function openSource(context: CommandContext): Promise<Source> {
  const { config, err } = context
  if (config.url === null) return openDatabase(context)
  return daemonAt(config.url, config, (line) => err.write(`plantstore: ${line}\n`))
}
