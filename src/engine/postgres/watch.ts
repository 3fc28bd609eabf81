// Looks at the server regularly: a page, a token and a write find a lost privilege, an altered table, and a connection
// that does not answer. What only other statements need is met by a client first.

import { isInDoubt, isReadOnlyServer, sqlStateOf } from './connection/errors'
import type { Primary } from './connection/primary'
import type { Connections } from './connection/readers'
import type { ServerState } from './connection/state'
import { type Statement, sendAll } from './connection/statements'
import { FIND_NONE } from './sql/tokens'

// `/health` is public: what was known within this time is enough, and it waits no longer.
const RECENT_MS = 1000
const LOOK_EVERY_MS = 2000
// Other processes remove a lane that was not used for 30 days.
const IDLE_MS = 3_600_000

const PAGE: Statement = ['SELECT id FROM plants WHERE id = $1', 0]

/** `read` asks for more on the connection of pages. `write` commits a write; as a probe, one that may be refused again. */
export function watchServer(
  primary: Primary,
  state: ServerState,
  read: (pages: Connections['pages']) => Promise<unknown>,
  write: (isProbe: boolean) => Promise<unknown>,
) {
  let begunAt = Number.NEGATIVE_INFINITY
  let last = Promise.resolve()

  async function tryWrite(): Promise<void> {
    const isProbe = state.isRefusing
    try {
      await write(isProbe)
      if (isProbe) state.accept()
    } catch (error) {
      if (sqlStateOf(error) !== '') state.refuse(error)
    }
  }

  /** Reads; then writes, unless a commit was confirmed within this time. */
  async function look(withinMs: number): Promise<void> {
    const connections = await primary.ready(0)
    const { points, pages, tokens } = connections
    const answers = await Promise.allSettled([
      points.ask((sql) => sendAll(sql, [PAGE])),
      tokens.ask((sql) => sendAll(sql, [FIND_NONE])),
      read(pages),
    ])
    const errors = answers.flatMap((answer) => ('reason' in answer ? [answer.reason] : []))
    const fatal = errors.find((error) => isInDoubt(error) || isReadOnlyServer(error))
    if (fatal) return primary.lose(connections, fatal)
    for (const error of errors) state.refuse(error)
    if (errors.length > 0) return
    if (state.isRefusing || performance.now() >= state.confirmedAt + withinMs) await tryWrite()
  }

  return {
    /** Looks at the server unless that was done recently. Rejects with the reason that it cannot be used. */
    async probe(): Promise<void> {
      if (performance.now() >= begunAt + RECENT_MS) {
        begunAt = performance.now()
        last = look(RECENT_MS).catch(() => {})
      }
      await Promise.race([last, Bun.sleep(RECENT_MS)])
      const reason = state.problem()
      if (reason) throw reason
    },
    /** Looks at the server regularly. Returns the function that stops the looks. */
    begin(): () => void {
      const timer = setInterval(() => look(IDLE_MS).catch(() => {}), LOOK_EVERY_MS)
      return () => clearInterval(timer)
    },
  }
}
