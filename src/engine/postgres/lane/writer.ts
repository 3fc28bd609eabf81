// Sends the steps of a lane one after another. If an answer is lost, the client is answered once the fate of the commit
// is known.

import { messageOf } from '../../../errors'
import { InDoubtError, RequestError } from '../../../request-errors'
import type { StoreUser } from '../../store-user'
import { isInDoubt, isReadOnlyServer, isRetried } from '../connection/errors'
import type { Primary } from '../connection/primary'
import type { Connections } from '../connection/readers'
import { type Lane, ROW_GONE, type Step } from './lane'

// Maximum number of attempts of a step that conflicts with other processes or finds its lane moved, and the longest
// pause in between.
const MAX_TRIES = 30
const MAX_PAUSE_MS = 64
/** Maximum wait of a change for a lost server. */
const PATIENCE_MS = 10_000

const ADVICE = 'the last changes may or may not be stored; run the command again'

/** A step that waits to be sent or settled. */
type Run = {
  readonly send: Step<unknown>['send']
  /** Called once it is committed: finds its result, and resolves. */
  readonly finish: (refusedIds: string) => void
  readonly reject: (reason: unknown) => void
  readonly onDoubt: () => void
  readonly startedAt: number
  tries: number
  isInDoubt: boolean
}

export class Writer {
  #queue: Run[] = []
  #isPumping = false

  constructor(
    private readonly primary: Primary,
    private readonly lane: Lane,
    private readonly storeUser: StoreUser,
  ) {}

  /** True if steps wait to be sent or settled. */
  isBusy = (): boolean => this.#queue.length > 0

  /**
   * Commits a step, after all earlier ones. Rejects with the server's error, or with
   * `storage failed` if the server is lost for too long: then it was not committed. Calls `onDoubt` if its fate is
   * unknown until the server is found again; rejects with an `InDoubtError` if it stays unknown.
   */
  run<Result>(step: Step<Result>, onDoubt: () => void = () => {}): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#queue.push({
      send: step.send,
      finish: (refusedIds) =>
        step.finish(refusedIds, this.primary.reader('points')).then(resolve, reject),
      reject,
      onDoubt,
      startedAt: performance.now(),
      tries: 0,
      isInDoubt: false,
    })
    this.resume()
    return promise
  }

  /** Flushes the queue, once the server was found. */
  async resume(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    for (let run = this.#queue[0]; run; run = this.#queue[0]) {
      try {
        if (await this.#advance(run, await this.primary.readyToWrite(PATIENCE_MS)))
          this.#queue.shift()
      } catch (error) {
        this.#refuseAll(error)
        if (this.primary.isLost) break
      }
    }
    this.#isPumping = false
  }

  /** Sends or settles a step. Resolves to true if it has ended, to false if it must be sent again. */
  async #advance(run: Run, connections: Connections): Promise<boolean> {
    if (run.isInDoubt) {
      run.isInDoubt = false
      const { verdict } = this.lane
      if (verdict === 'unknown') run.reject(this.#inDoubt(ROW_GONE))
      else if (verdict !== 'not made') run.finish(verdict.refusedIds)
      if (verdict !== 'not made') return true
    }
    if (run.tries > 0 && performance.now() > run.startedAt + PATIENCE_MS) {
      run.reject(new RequestError('storage failed'))
      return true
    }
    run.tries += 1
    try {
      const result = await this.lane.advance(connections.writer, run.send)
      if (result !== 'elsewhere') {
        run.finish(result.refusedIds)
        return true
      }
      await this.primary.renew(connections)
      return await this.#pause(run, new RequestError('storage failed'))
    } catch (error) {
      return this.#recover(run, connections, error)
    }
  }

  /** The end of a step whose fate stays unknown. */
  #inDoubt(reason: string): Error {
    return this.storeUser.outlivesOutages
      ? new InDoubtError(reason)
      : new RequestError('storage failed', `${reason}; ${ADVICE}`)
  }

  /** Resolves to true if a failed step has ended. */
  async #recover(run: Run, connections: Connections, error: unknown): Promise<boolean> {
    if (isInDoubt(error) || isReadOnlyServer(error)) {
      run.isInDoubt = isInDoubt(error)
      if (run.isInDoubt) run.onDoubt()
      this.primary.lose(connections, error)
      return false
    }
    if (isRetried(error)) return await this.#pause(run, new RequestError('busy'))
    run.reject(error)
    return true
  }

  /** Pauses before a step is sent again. Resolves to true if it was refused after too many attempts. */
  async #pause(run: Run, refusal: RequestError): Promise<boolean> {
    if (run.tries >= MAX_TRIES) {
      run.reject(refusal)
      return true
    }
    // Random, so that two processes do not collide again.
    await Bun.sleep(Math.random() * Math.min(2 ** run.tries, MAX_PAUSE_MS))
    return false
  }

  // The server is lost for too long. Steps in doubt wait until it is found; a command fails, and can be run again.
  #refuseAll(error: unknown): void {
    const runs = this.#queue.splice(0)
    for (const run of runs) {
      if (!run.isInDoubt) run.reject(error)
      else if (this.storeUser.outlivesOutages) this.#queue.push(run)
      else run.reject(this.#inDoubt(messageOf(error)))
    }
  }
}
