// The source of a command's changes: a daemon, or a database.

import {
  type Change,
  type ChangePage,
  ClientError,
  createClient,
  type Fetch,
} from '../client/client'
import type { Config } from '../config/config'
import { readTokenText } from '../config/configured-token'
import { DATABASE_OPTIONS, type OptionOverrides } from '../config/options'
import { engineOf } from '../engine/engine'
import { OpenError, UsageError } from '../errors'
import type { Log } from '../log'
import { reportOutages } from '../outbound/outages'
import type { SendRequest } from '../outbound/request'

const PAGE_CHANGES = 1000
const TIMEOUT_SECONDS = 30

/** The options that name a source. */
export const SOURCE_OPTIONS = ['url', ...DATABASE_OPTIONS, 'token', 'tokenFile'] as const

export const SOURCE_OVERRIDES: OptionOverrides = {
  token: { help: 'the token for --url' },
  tokenFile: { help: 'a file with the token for --url' },
}

type Source = {
  /** The changes after a cursor, oldest first; `next` is the cursor of the following page. */
  page(after: string | undefined): Promise<ChangePage>
  /** Every change after a cursor, past and future, until the signal is aborted. `onAnswer`: called at each good answer. */
  follow(
    after: string | undefined,
    signal: AbortSignal,
    onAnswer?: () => void,
  ): AsyncIterable<Change>
  close(): Promise<void>
}

/** Services that a source needs: requests to a daemon, and reports of its outages; the log of a database. */
type SourceServices = {
  readonly sendRequest: SendRequest
  readonly report: (line: string) => void
  readonly log: Log
}

function daemonAt(url: string, config: Config, { sendRequest, report }: SourceServices): Source {
  const token = readTokenText(config)
  if (token === null) throw new UsageError('--url needs PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE')
  const send = (isStream: boolean): Fetch => {
    const options = { target: 'daemon', seconds: TIMEOUT_SECONDS, isStream } as const
    return (address, init) => sendRequest(address, { ...init, ...options })
  }
  const client = createClient({ url, token, fetch: send(false) })
  const { origin } = new URL(url)
  const stream = reportOutages(send(true), origin, report)
  const follower = (onAnswer: () => void) => {
    const sendAndReport: Fetch = async (address, init) => {
      const answer = await stream(address, init)
      if (answer.ok) onAnswer()
      return answer
    }
    return createClient({ url, token, fetch: sendAndReport })
  }
  return {
    async page(after) {
      const page = await client.listChanges({ after, limit: PAGE_CHANGES })
      if (page.ok) return page.value
      throw page.cause instanceof OpenError ? page.cause : new ClientError(page)
    },
    follow: (after, signal, onAnswer = () => {}) => follower(onAnswer).changes({ after, signal }),
    close: async () => {},
  }
}

async function openDatabase(config: Config, log: Log): Promise<Source> {
  const { database } = config
  const { changeLog, close } = await engineOf(database).openReadOnly(database, config, log)

  async function page(after: string | undefined) {
    const { entries, next } = await changeLog.read({ limit: PAGE_CHANGES, after })
    return { changes: entries, next }
  }

  async function* follow(after: string | undefined, signal: AbortSignal, onAnswer = () => {}) {
    let nextChange = Promise.withResolvers<void>()
    const wake = () => nextChange.resolve()
    const unwatch = changeLog.watch(wake)
    signal.addEventListener('abort', wake)
    try {
      for (let cursor = after; !signal.aborted; ) {
        nextChange = Promise.withResolvers()
        const { changes, next } = await page(cursor)
        onAnswer()
        yield* changes
        cursor = next
        if (changes.length === 0 && !signal.aborted) await nextChange.promise
      }
    } finally {
      unwatch()
      signal.removeEventListener('abort', wake)
    }
  }

  return { page, follow, close }
}

/** Opens the source named by the options: `--url`, or else `--database`. */
export const openSource = async (config: Config, services: SourceServices): Promise<Source> =>
  config.url === null ? openDatabase(config, services.log) : daemonAt(config.url, config, services)
