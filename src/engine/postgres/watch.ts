// Looks at the server regularly: a write without rows, a page and a token find a lost privilege, an altered table, and a
// connection that does not answer. What only other statements need is met by a client first.

import type { Connection } from './connection/connection'
import { isDataError, isInDoubt, isOfServer, isReadOnlyServer } from './connection/errors'
import type { Primary } from './connection/primary'
import { type Connections, READER_SILENT_MS } from './connection/readers'
import type { ServerState } from './connection/state'
import { type Statement, sendAll } from './connection/statements'
import { READ_PLACE } from './sql/change-log'
import { FIND_NONE } from './sql/tokens'

/** `/health` is public: what was known within this time is enough. */
export const RECENT_MS = 1000
const LOOK_EVERY_MS = 2000
// Maximum wait of a probe for a look.
const PATIENCE_MS = 1000

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

const PAGE: Statement = ['SELECT id FROM plants WHERE id = $1', 0]

/** Reads a page and a token. */
export const readNothing = ({ points, pages, tokens }: Connections): Promise<void>[] => [
  sendEach(points, [PAGE]),
  sendEach(pages, [PAGE, READ_PLACE]),
  sendEach(tokens, [FIND_NONE]),
]

/** Shares an attempt until it ends: a stalled one takes longer than a probe waits. */
export function shareBriefly(attempt: () => Promise<unknown>): () => Promise<unknown> {
  let current: Promise<unknown> | null = null
  return () => {
    current ??= attempt().finally(() => {
      current = null
    })
    return Promise.race([current, Bun.sleep(PATIENCE_MS)])
  }
}

/** `look` asks the server; `tryWrite` writes and rolls back, to find whether a refusal is over. */
export function watchServer(
  primary: Primary,
  state: ServerState,
  look: (connections: Connections) => readonly Promise<unknown>[],
  tryWrite: () => Promise<unknown>,
) {
  let begunAt = Number.NEGATIVE_INFINITY
  let last = Promise.resolve()

  async function lookOnce(): Promise<void> {
    // A later refusal is left to the next look.
    const wasRefusing = state.isRefusing
    const connections = await primary.ready(0)
    const answers = await Promise.allSettled(look(connections))
    const errors = answers.flatMap(({ status, ...answer }) =>
      'reason' in answer ? [answer.reason] : [],
    )
    const fatal = errors.find((error) => isInDoubt(error) || isReadOnlyServer(error))
    if (fatal) return primary.lose(connections, fatal)
    for (const error of errors) state.refuse(error)
    if (wasRefusing && errors.length === 0) await endRefusal()
  }

  async function endRefusal(): Promise<void> {
    try {
      await tryWrite()
    } catch (error) {
      if (isOfServer(error)) state.refuse(error)
      // Another program's constraint refuses some plants, and no others.
      if (!isDataError(error)) return
    }
    state.accept()
  }

  async function lookUnlessRecent(): Promise<void> {
    await last
    if (performance.now() >= begunAt + RECENT_MS) {
      begunAt = performance.now()
      last = lookOnce().catch(() => {})
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
