import type { Outcome } from '../../src/engine/change'
import { GroupCommit, type GroupCommitLimits } from '../../src/engine/group-commit'

export const ROOMY = { queuedWrites: 1000, queuedBytes: 1_000_000, batchWrites: 1000 }

/** The next turns of the event loop: enough for what starts in one of them, too few for a timer of some milliseconds. */
export const turns = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Commits to an array, when the test says so. A change "no" is refused. */
export function createLedger(limits: Partial<GroupCommitLimits> = {}) {
  const batches: string[][] = []
  const running: PromiseWithResolvers<void>[] = []
  const group = new GroupCommit<string>(
    async (batch) => {
      batches.push(batch)
      const run = Promise.withResolvers<void>()
      running.push(run)
      await run.promise
      return batch.map(
        (change): Outcome => (change.startsWith('no') ? { error: 40902, message: change } : null),
      )
    },
    { ...ROOMY, ...limits },
  )
  return {
    group,
    batches,
    submit: (change: string, bytes = 1) => group.submit(change, bytes),
    /** Lets the running commit end, or fail; waits for one that is held, as after a commit that took a while. */
    async end(error?: Error) {
      while (running.length === 0) await Bun.sleep(1)
      const run = running.shift()
      if (error) run?.reject(error)
      else run?.resolve()
      await turns()
    },
  }
}
