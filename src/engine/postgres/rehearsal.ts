// A rehearsal sends every kind of statement that requests need with nothing to do, so that a missing privilege, table
// or column is found before a client meets it. It also finds reading connections that do not answer.

import type { SQL } from 'bun'
import { RequestError } from '../../errors'
import type { StorageEvent, StorageState } from '../storage-state'
import type { Connection } from './connecting/connection'
import { hasWaited, isDataError, isInDoubt, isReadOnlyServer } from './connecting/errors'
import type { Primary } from './connecting/primary'
import { READER_SILENT_MS } from './connecting/readers'
import { failureOf } from './connecting/refusals'
import { type Statement, sendAll } from './connecting/statements'
import { LANE_STATEMENTS } from './lane/lane-row'
import type { Writer } from './lane/writer'
import { trialStep, writeStatements } from './sql/apply-writes'
import { CHANGE_LOG_READS, CHANGE_LOG_REMOVAL } from './sql/change-log'
import { FIND, TOKEN_STATEMENTS } from './sql/tokens'

const PAGE: Statement = ['SELECT id FROM plants WHERE id = $1', 0]

/** The connections of requests, and their statements. */
type Statements = Readonly<Record<'points' | 'pages' | 'tokens', readonly Statement[]>>

/** The statements of a read-only store. */
export const READS: Statements = {
  points: [PAGE],
  pages: [PAGE, ...CHANGE_LOG_READS],
  tokens: [[FIND, '']],
}

/** Every kind of statement that plantstore sends, by connection. None changes anything or writes to the disk. */
export const statementsOf = (sql: SQL) => ({
  points: [...writeStatements(sql), ...LANE_STATEMENTS],
  pages: [PAGE, ...CHANGE_LOG_READS],
  tokens: TOKEN_STATEMENTS,
  /** On the connection for pages; no request needs it. */
  retention: [CHANGE_LOG_REMOVAL],
})

/**
 * Sends statements one after another, up to the first that the server refuses: each may wait for a locked table, and
 * all together would take too long. A new session also prepares each, which takes a second round trip.
 */
export async function sendEach(
  { within, sql }: Connection,
  statements: readonly Statement[],
): Promise<void> {
  for (const statement of statements) {
    await within(READER_SILENT_MS, sendAll(sql, [statement]))
  }
}

/** `/health` is public: what was known within this time is enough. */
export const RECENT_MS = 1000
const LOOK_EVERY_MS = 2000
// Maximum wait of a probe for a look.
const PATIENCE_MS = 1000

/** A look at the server. */
type Look = (connection: Connection) => Promise<unknown>

/**
 * Sends every kind of statement on the current connections. Resolves to the errors that the server answered; or to null
 * if it lost a connection.
 */
async function rehearse(
  primary: Primary,
  statementsFor: (sql: SQL) => Statements,
  look: Look,
): Promise<readonly unknown[] | null> {
  const connections = await primary.ready(0)
  const statements = statementsFor(connections.points.sql)
  const answers = await Promise.allSettled([
    sendEach(connections.points, statements.points),
    sendEach(connections.pages, statements.pages),
    sendEach(connections.tokens, statements.tokens),
    look(connections.pages),
  ])
  const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  const fatal = errors.find((error) => isInDoubt(error) || isReadOnlyServer(error))
  if (!fatal) return errors
  primary.lose(connections, fatal)
  return null
}

/** Writes a plant and rolls back. Resolves to the server's refusal, unless the data or a lock is at fault. */
async function tryWrite(writer: Writer): Promise<StorageEvent | null> {
  try {
    await writer.run(trialStep)
    return 'tried'
  } catch (error) {
    // Another program's constraint refuses some plants, and no others.
    if (isDataError(error)) return 'tried'
    if (error instanceof RequestError || hasWaited(error)) return null
    return { source: 'trial', failure: failureOf(error) }
  }
}

/**
 * Looks at a server, and reports what it finds: a rehearsal, and if something was refused, a write by the writer.
 */
export function watchServer(
  primary: Primary,
  storage: StorageState,
  statementsFor: (sql: SQL) => Statements,
  extraLook: Look,
  writer: Writer | null,
) {
  let begunAt = Number.NEGATIVE_INFINITY
  let last = Promise.resolve()

  async function look(): Promise<void> {
    // A later refusal is left to the next look.
    const isRefusing = storage.attempt === 'trial'
    const errors = await rehearse(primary, statementsFor, extraLook)
    for (const error of errors ?? []) {
      storage.report({ source: 'trial', failure: failureOf(error) })
    }
    if (!isRefusing || errors?.length !== 0) return
    const trial = writer ? await tryWrite(writer) : 'tried'
    if (trial) storage.report(trial)
  }

  async function lookUnlessRecent(): Promise<void> {
    await last
    if (performance.now() >= begunAt + RECENT_MS) {
      begunAt = performance.now()
      last = look().catch(() => {})
    }
    await last
  }

  return {
    /** Looks at the server unless that was done recently. Resolves when the last look has ended, or takes too long. */
    probe: () => Promise.race([lookUnlessRecent(), Bun.sleep(PATIENCE_MS)]),
    /** Looks at the server regularly. Returns the function that stops the looks. */
    begin(): () => void {
      const timer = setInterval(lookUnlessRecent, LOOK_EVERY_MS)
      return () => clearInterval(timer)
    },
  }
}
