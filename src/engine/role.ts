// Who opens a store: the daemon, which owns it, or a command, which works beside one or in its absence.

import type { Log } from '../log'

/** What the holder of a store may do. Made by {@link daemon} or {@link command}, once for each process. */
export type Role = {
  /** Holds the lock of the database until it is closed, so that a database has one daemon. */
  readonly holdsLock: boolean
  /** Makes the database where there is none. */
  readonly makesDatabase: boolean
  /** Waits for failed storage to heal. A command fails instead, and can be run again. */
  readonly outlivesOutages: boolean
  /** What becomes of the index of names when the store is opened. */
  readonly nameIndex: 'make' | 'drop' | 'keep'
  readonly log: Log
  /** Told of each commit that changed something: how many changes shared it, and its milliseconds. */
  readonly onCommit: (changes: number, milliseconds: number) => void
}

/** The process that serves a store to clients, for as long as it runs. */
export const daemon = (
  log: Log,
  onCommit: Role['onCommit'],
  nameIndex: Role['nameIndex'] = 'keep',
): Role => ({
  holdsLock: true,
  makesDatabase: true,
  outlivesOutages: true,
  nameIndex,
  log,
  onCommit,
})

/** A process that uses a store for a moment, and leaves a daemon beside it room to work. */
export const command = ({
  makesDatabase,
  log = () => {},
}: Pick<Role, 'makesDatabase'> & Partial<Role>): Role => ({
  holdsLock: false,
  makesDatabase,
  outlivesOutages: false,
  nameIndex: 'keep',
  log,
  onCommit: () => {},
})

/** Why plants cannot be found by name, where the role does not make the index. */
export const NO_NAME_INDEX =
  'name: plants cannot be found by name here; the daemon must be started with --name-index'
