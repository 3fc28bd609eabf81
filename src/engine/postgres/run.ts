// A step of the writer on its way to the server and back, and whether one that failed is sent again.

import { PlantError } from '../../errors'
import { isInDoubt, isReadOnlyServer, isRetried } from './errors'
import type { Read, Step } from './lane'

// Others that write the same rows are in the way for so many tries at most, each after a longer pause.
const MOST_TRIES = 30
const LONGEST_PAUSE_MS = 64

/** Why a step has no result: it was not made, or nobody knows ('doubt'). 'elsewhere': one before it was not made. */
export type Failure = {
  readonly kind: 'refused' | 'elsewhere' | 'moved' | 'doubt'
  readonly error: unknown
}

/** A step on its way to the server and back. */
export type Run = Pick<Step<unknown>, 'isPipelined' | 'send'> & {
  readonly startedAt: number
  readonly onDoubt: () => void
  /** It is over: finds its result, and tells whoever waits. */
  readonly finish: (refused: string) => void
  readonly reject: (reason: unknown) => void
  tries: number
  sentAt: number
  seq: number
  failure: Failure | null
}

export function failureOf(error: unknown): Failure {
  if (isReadOnlyServer(error)) return { kind: 'moved', error }
  return { kind: isInDoubt(error) ? 'doubt' : 'refused', error }
}

/** A step that waits to be sent, and its result. `read` finds the result, where the lane tells only of the step. */
export function createRun<Result>(step: Step<Result>, read: Read, onDoubt: () => void) {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const run: Run = {
    isPipelined: step.isPipelined,
    send: step.send,
    startedAt: performance.now(),
    onDoubt,
    finish: (refused) => step.finish(refused, read).then(resolve, reject),
    reject,
    tries: 0,
    sentAt: 0,
    seq: 0,
    failure: null,
  }
  return { run, result: promise }
}

/** Rejects a run that is not sent again, though it was not made. */
export function isSentAgain(run: Run, patience: number): boolean {
  const { kind, error } = run.failure ?? { kind: 'doubt', error: null }
  if (kind === 'refused' && !isRetried(error)) run.reject(error)
  else if (kind !== 'refused' && performance.now() > run.startedAt + patience) {
    run.reject(new PlantError(50302))
  } else if (run.tries >= MOST_TRIES) run.reject(new PlantError(50301))
  else return true
  return false
}

/** Milliseconds after which a run that met others is sent again; random, so that two do not meet again. */
export const pauseOf = ({ tries }: Run): number =>
  Math.random() * Math.min(2 ** tries, LONGEST_PAUSE_MS)

/** Has the user of a command, who can run it again, told that nobody knows how these ended; unless that is known in time. */
export function giveUp(flight: Run[], error: unknown, patience: number): void {
  const [first] = flight
  const seq = first?.seq
  setTimeout(() => {
    // All of a flight are settled at once; what is under way then is another flight, or the next try.
    if (!first || flight[0] !== first || first.seq !== seq) return
    const reason = `the database server is lost: ${error instanceof Error ? error.message : error}`
    const advice = 'the last changes may or may not be stored: run it again'
    for (const { reject } of flight.splice(0)) reject(new PlantError(50302, `${reason}; ${advice}`))
  }, patience)
}
