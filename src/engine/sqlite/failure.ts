import { SQLiteError } from 'bun:sqlite'
import { catalogue, type ErrorNumber, PlantError } from '../../errors'

/**
 * Why a batch failed whole. `doubtful`: only the disk knows whether it is there, for the commit failed, and so did the
 * one that was to overwrite what it left; or it was made, and the file was no longer there or could not be found; or the
 * thread ended.
 */
export type Failure = {
  readonly kind: 'full' | 'busy' | 'failed' | 'doubtful'
  readonly detail: string
}

/** What SQLite threw, as a reason for all who wait. */
export const toFailure = (error: unknown): Failure => {
  const code = error instanceof SQLiteError ? (error.code ?? '') : ''
  const detail = `${code} ${error instanceof Error ? error.message : error}`.trim()
  if (code.startsWith('SQLITE_FULL')) return { kind: 'full', detail }
  if (code.startsWith('SQLITE_BUSY')) return { kind: 'busy', detail }
  return { kind: 'failed', detail }
}

const numbers: Readonly<Record<Failure['kind'], ErrorNumber>> = {
  full: 50701,
  busy: 50301,
  failed: 50302,
  doubtful: 50302,
}

/** What the clients of a daemon are told. */
export const toClientError = ({ kind }: Failure): PlantError => new PlantError(numbers[kind])

/** What the user of a command is told, which has no log: the cause, and nothing of what was stored before it. */
export function toCommandError({ kind, detail }: Failure): PlantError {
  const error = numbers[kind]
  return new PlantError(error, catalogue[error].replace(/;.*/, `: ${detail}`))
}
