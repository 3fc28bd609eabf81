import {
  type Clock,
  GroupCommit,
  type GroupCommitLimits,
} from '../../src/engine/commit/group-commit'
import { DONE, type Outcome } from '../../src/engine/commit/write'

export const ROOMY = { queuedWrites: 1000, queuedBytes: 1_000_000, batchWrites: 1000 }

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The next turns of the event loop: enough for what starts in one of them, too few for a batch to be gathered. */
export const turns = async (count = 3) => {
  for (let n = 0; n < count; n++) await turn()
}

// An event loop that is idle takes a few microseconds for a turn.
const TURN_MS = 0.01

/** A clock that stands still until it is advanced: a busy machine changes nothing. */
export function createTestClock() {
  let time = 0
  const timers = new Set<{ readonly at: number; readonly act: () => void }>()

  function advance(milliseconds: number): void {
    time += milliseconds
    for (const timer of timers) {
      if (timer.at > time) continue
      timers.delete(timer)
      timer.act()
    }
  }

  const clock: Clock = {
    now: () => time,
    after(milliseconds, act) {
      const timer = { at: time + milliseconds, act }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  }

  return {
    clock,
    advance,
    sleep: (milliseconds: number) =>
      new Promise<void>((resolve) => clock.after(milliseconds, resolve)),
    /** Lets turns of the event loop pass, each in its time, while `isOn` says so. */
    async run(isOn: () => boolean) {
      while (isOn()) {
        await turn()
        advance(TURN_MS)
      }
    },
  }
}

const outcomeOf = (write: string): Outcome =>
  write.startsWith('no') ? { error: 'taken', message: write } : DONE

/** Commits to an array, when the test says so. A write "no" is refused. */
export function createLedger(limits: Partial<GroupCommitLimits> = {}) {
  const time = createTestClock()
  const batches: string[][] = []
  const running: PromiseWithResolvers<void>[] = []
  const group = new GroupCommit<string>(
    async (batch) => {
      batches.push(batch)
      const run = Promise.withResolvers<void>()
      running.push(run)
      await run.promise
      return batch.map(outcomeOf)
    },
    { ...ROOMY, ...limits },
    time.clock,
  )
  return {
    group,
    batches,
    ...time,
    submit: (write: string, bytes = 1) => group.submit(write, bytes),
    /** Lets the running commit end, or fail; waits for one that is held, as after a commit that took a while. */
    async end(error?: Error) {
      await time.run(() => running.length === 0)
      const run = running.shift()
      if (error) run?.reject(error)
      else run?.resolve()
      await turns()
    },
  }
}
