// A rehearsal sends every kind of statement that requests need with nothing to do, so that a missing privilege, table
// or column is found before a client meets it. It also finds reading connections that do not answer.

import type { SQL } from 'bun'
import type { Connection } from './connecting/connection'
import { hasWaited, isInDoubt, isReadOnlyServer } from './connecting/errors'
import type { Primary } from './connecting/primary'
import { READER_SILENT_MS } from './connecting/readers'
import type { Refusals } from './connecting/refusals'
import { type Statement, sendAll } from './connecting/statements'
import { rehearsal as lanes } from './lane/lane-row'
import type { Writer } from './lane/writer'
import { rehearsal as plants, trialStep } from './sql/apply-writes'
import { reads, removal } from './sql/change-log'
import { FIND, rehearsal as tokens } from './sql/tokens'

const PAGE: Statement = ['SELECT id FROM plants WHERE id = $1', 0]

/** The connections of requests, and their statements. */
type Statements = Readonly<Record<'points' | 'pages' | 'tokens', readonly Statement[]>>

/** The statements of a store that is only read. */
export const READS: Statements = { points: [PAGE], pages: [PAGE, ...reads], tokens: [[FIND, '']] }

/** Every kind of statement that plantstore sends, by connection. None changes anything or writes to the disk. */
export const statementsOf = (sql: SQL) => ({
  points: [...plants(sql), ...lanes],
  pages: [PAGE, ...reads],
  tokens,
  /** On the connection for pages; no request needs it. */
  retention: [removal],
})

/**
 * Has a new session prepare the statements of its requests: each takes two round trips, where later ones share one.
 * What the server refuses is left to the rehearsal.
 */
export async function warmUp(
  { within, sql }: Connection,
  statements: readonly Statement[],
): Promise<void> {
  for (const statement of statements) {
    try {
      await within(READER_SILENT_MS, sendAll(sql, [statement]))
    } catch (error) {
      if (isInDoubt(error)) throw error
      // A locked table would make each of the others wait, too.
      if (hasWaited(error)) return
    }
  }
}

// `/health` is public: a rehearsal within the last half second is enough, unless a write has succeeded since it failed.
const EVERY_MS = 500

/** A further look at the server. */
type Look = (connection: Connection) => Promise<unknown>

/** Rehearses on the current connections. A failure is a refusal, or loses the connections. */
async function rehearse(
  primary: Primary,
  refusals: Refusals,
  statementsFor: (sql: SQL) => Statements,
  look: Look,
): Promise<void> {
  const connections = await primary.ready(0)
  const ask = ({ within, sql }: Connection, statements: readonly Statement[]) =>
    within(READER_SILENT_MS, sendAll(sql, statements))
  const statements = statementsFor(connections.points.sql)
  const asked = await Promise.allSettled([
    ask(connections.points, statements.points),
    ask(connections.pages, statements.pages),
    ask(connections.tokens, statements.tokens),
    look(connections.pages),
  ])
  const errors = asked.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []))
  const fatal = errors.find((error) => isInDoubt(error) || isReadOnlyServer(error))
  if (fatal) primary.lose(connections, fatal)
  else refusals.rehearsed(errors)
}

/** Returns a function that rehearses, unless a rehearsal has just ended. Resolves when the last one has ended. */
export function createRehearsal(
  primary: Primary,
  refusals: Refusals,
  statementsFor: (sql: SQL) => Statements,
  look: Look,
): () => Promise<void> {
  let begunAt = Number.NEGATIVE_INFINITY
  let last = Promise.resolve()
  return async () => {
    await last
    const isRecent = performance.now() < begunAt + EVERY_MS
    if (!isRecent || refusals.isOutdated(begunAt)) {
      begunAt = performance.now()
      last = rehearse(primary, refusals, statementsFor, look).catch(() => {})
    }
    await last
  }
}

/** Returns a function that tries a change of plants, if any was refused lately, unless another try is under way. */
export function createTrial(writer: Writer, refusals: Refusals): () => Promise<void> {
  let isTrying = false
  return async () => {
    if (isTrying || !refusals.hasRefusedChanges()) return
    isTrying = true
    await writer.run(trialStep).then(
      () => refusals.tried(null),
      (error) => refusals.tried(error),
    )
    isTrying = false
  }
}
