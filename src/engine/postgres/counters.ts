// What a store counts of its server.

import type { ServerStats } from '../../store'

export type Counters = { -readonly [Name in keyof ServerStats]: ServerStats[Name] }

export const createCounters = (): Counters => ({
  retries: 0,
  inDoubtMade: 0,
  inDoubtNotMade: 0,
  reconnects: 0,
  failovers: 0,
  lostCommits: 0,
})
