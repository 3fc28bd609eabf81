// Connections to one host that are used, and lost, together.

import type { Connection } from './connection'

/** How long a read may take. */
export const READ_DEADLINE_MS = 15_000

/** Connections of one host. */
export type Session = {
  /** The shortest round trip to it that was seen when it was opened, in milliseconds. */
  readonly roundTrip: number
  readonly writer: Connection
  /** For rows by their keys: short queries. */
  readonly points: Connection
  /** For pages. */
  readonly pages: Connection
}

export const connectionsOf = ({ writer, points, pages }: Session) =>
  new Set([writer, points, pages])

const PINGS = 5

/** The shortest of some round trips, in milliseconds. */
export async function measure({ sql, within }: Connection): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let ping = 0; ping < PINGS; ping += 1) {
    const started = performance.now()
    await within(READ_DEADLINE_MS, sql.unsafe('SELECT 1'))
    shortest = Math.min(shortest, performance.now() - started)
  }
  return shortest
}
