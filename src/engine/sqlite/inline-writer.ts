import type { Change } from './apply-change'
import { type Files, openForWriting } from './committer'
import { toFailure } from './failure'
import { type Answer, failureOf } from './worker-client'

// A commit in the serving thread keeps all clients waiting for the disk: not for longer than this, as a rule.
const FAST_MS = 1
const MOST_CHANGES = 64
// The weight of the last commit in the running mean.
const WEIGHT = 0.1
// The other thread looks after the log: it is told to from time to time.
const TIDY_EVERY = 100

/**
 * Commits small batches in the serving thread, while the disk is fast: the way to the writing thread and back costs as
 * much as such a commit itself, in time and in instructions.
 */
export function createInlineWriter(files: Files, tidy: () => void) {
  let writing: ReturnType<typeof openForWriting> | undefined
  let usualMs = 0
  let untidied = 0

  const isSmall = (batch: readonly Change[]): boolean =>
    batch.length <= MOST_CHANGES && batch.every(([kind]) => kind !== 'createAll')

  function commit(batch: readonly Change[]): Answer {
    try {
      writing ??= openForWriting(files, 0)
      return writing.write(batch)
    } catch (error) {
      return { failure: toFailure(error) }
    }
  }

  return {
    /** Makes a batch durable, whatever it costs. */
    commit,
    /** Makes a batch durable; null where that is for the other thread to do. */
    write(batch: readonly Change[]): Answer | null {
      if (usualMs > FAST_MS || !isSmall(batch)) return null
      const answer = commit(batch)
      // Another process writes: only the other thread may wait for it.
      if (failureOf(answer)?.kind === 'busy') return null
      untidied += 1
      if (untidied === TIDY_EVERY) {
        untidied = 0
        tidy()
      }
      return answer
    },
    /** Takes note of the milliseconds that a commit took, in whichever thread. */
    took(milliseconds: number): void {
      usualMs += (milliseconds - usualMs) * WEIGHT
    },
    close(): void {
      writing?.close()
      writing = undefined
    },
  }
}
