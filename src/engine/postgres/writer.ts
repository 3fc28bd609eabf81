// The writer of a store: sends the steps of its lane in order, the next ones without waiting for the answer if they can be
// pipelined, and finds out how those ended whose answer was lost. Nobody is answered before that.

import type { SQL } from 'bun'
import { PlantError } from '../../errors'
import type { Role } from '../role'
import type { Connection } from './connection'
import type { Counters } from './counters'
import { enterLane, fence, LONGEST_PIPELINE, leaveLane, type Step } from './lane'
import { createRun, type Failure, failureOf, giveUp, isSentAgain, pauseOf, type Run } from './run'
import type { Session } from './session'
import { PATIENCE_MS, type Sessions } from './sessions'
import { settle } from './settle'

// A server that takes longer to confirm a commit is left: the commit is in doubt, and another connection settles it.
const DEADLINE_MS = 5000
const READ_AGAIN_MS = 100

export class Writer {
  #lane: string | null = null
  /** The last step that was confirmed, and the last that was sent. */
  #confirmed = 0
  #sent = 0
  #confirmedAt = Number.NEGATIVE_INFINITY
  #queue: Run[] = []
  #flight: Run[] = []
  /** Whether a step of the flight failed: no other is sent until it is known how all of them ended. */
  #isBroken = false
  #isPumping = false

  constructor(
    private readonly sessions: Sessions,
    private readonly role: Role,
    private readonly counters: Counters,
  ) {}

  /** Milliseconds since a commit was last confirmed. */
  sinceConfirmed = (): number => performance.now() - this.#confirmedAt
  /** Milliseconds that the oldest step has waited for its answer; 0 where none does. */
  stalledFor = (): number => (this.#flight[0] ? performance.now() - this.#flight[0].sentAt : 0)
  /** Whether steps wait whose end is not known, or that are not made. */
  isBusy = (): boolean => this.#flight.length + this.#queue.length > 0

  /**
   * Makes a step, after all that were asked for before. Rejects with what the server answered, or with 50302 where it is lost
   * for too long: then it was not made. `onDoubt` is told where its end is not known until the server is found again.
   */
  run<Result>(step: Step<Result>, onDoubt: () => void = () => {}): Promise<Result> {
    const { run, result } = createRun(step, this.#read, onDoubt)
    this.#queue.push(run)
    this.pump()
    return result
  }

  /** Called with a new connection before anything else is sent on it: settles what is in doubt, and enters the lane. */
  async enter(connection: Connection): Promise<void> {
    const lane = this.#lane
    if (lane !== null) {
      const top = this.#sent
      const found = await connection.within(DEADLINE_MS, fence(connection, { lane, seq: top }))
      const flight = this.#flight.splice(0)
      this.#sendAgain(settle(flight, found, this.#confirmed, this.counters, this.role.log))
      this.#confirmed = top + 1
      this.#sent = top + 1
      this.#confirmedAt = performance.now()
      if (found.made === null) this.#lane = null
    }
    // A command that only reads needs none.
    if (this.#lane === null && this.role.outlivesOutages) await this.#enterLane(connection)
  }

  /** Called when there is a session: what failed with the last one is sent again. */
  resume(): void {
    if (this.#flight.length > 0) return
    this.#isBroken = false
    this.pump()
  }

  /** Sends what waits, where that can be; while the server is lost, what waits for too long is refused. */
  async pump(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    try {
      while (this.#canSend() || (this.#queue.length > 0 && this.sessions.problem())) {
        const session = await this.sessions.ready()
        if (this.#lane === null) await this.#enterLane(session.writer)
        if (this.#canSend()) this.#sendNext(session)
      }
    } catch (error) {
      for (const { reject } of this.#queue.splice(0)) reject(error)
    } finally {
      this.#isPumping = false
    }
  }

  /** Removes the lane. */
  async leave(): Promise<void> {
    if (this.#lane === null || this.sessions.problem()) return
    const { writer } = await this.sessions.ready()
    await writer.within(DEADLINE_MS, leaveLane(writer, this.#lane))
  }

  async #enterLane(connection: Connection): Promise<void> {
    this.#lane = await connection.within(DEADLINE_MS, enterLane(connection))
    this.#confirmed = 0
    this.#sent = 0
    this.#confirmedAt = performance.now()
  }

  #canSend(): boolean {
    const [next] = this.#queue
    if (!next || this.#isBroken || this.#flight.length >= LONGEST_PIPELINE) return false
    return this.#flight.length === 0 || [next, ...this.#flight].every((run) => run.isPipelined)
  }

  #sendNext(session: Session): void {
    const run = this.#queue.shift()
    if (!run) return
    run.seq = ++this.#sent
    run.tries += 1
    run.sentAt = performance.now()
    run.failure = null
    this.#flight.push(run)
    this.#await(session, run)
  }

  async #await(session: Session, run: Run): Promise<void> {
    const { writer } = session
    const { seq } = run
    let failure: Failure | null = null
    let refused: string | null = null
    try {
      const sent = await writer.within(
        DEADLINE_MS,
        run.send(writer.sql, { lane: this.#lane ?? '', seq }),
      )
      if (sent === 'elsewhere') failure = { kind: 'elsewhere', error: new Error('the lane moved') }
      else if (sent !== 'left') refused = sent.refused
    } catch (error) {
      failure = failureOf(error)
    }
    // A fence was first: it has told how this run ended.
    if (run.seq !== seq || !this.#flight.includes(run)) return
    run.failure = failure
    if (failure) this.#isBroken = true
    else this.#confirm(run, refused)
    if (!this.#isBroken) this.pump()
    else if (this.#flight.every((it) => it.failure)) this.#mend(session)
  }

  // `refused`: null where nothing was written, not even the lane.
  #confirm(run: Run, refused: string | null): void {
    this.#flight.splice(this.#flight.indexOf(run), 1)
    if (refused === null) this.#sent = run.seq - 1
    else this.#confirmed = run.seq
    this.#confirmedAt = performance.now()
    run.finish(refused ?? '')
  }

  // Every step of the flight has failed, in one way or another.
  #mend(session: Session): void {
    const failures = this.#flight.flatMap(({ failure }) => failure ?? [])
    // Where none before it failed, a lane that is elsewhere is wrong itself: the fence tells what happened.
    const cause =
      failures.find(({ kind }) => kind === 'moved' || kind === 'doubt') ??
      failures.slice(0, 1).find(({ kind }) => kind === 'elsewhere')
    if (!cause) {
      this.#sent = this.#confirmed
      setTimeout(() => this.resume(), this.#sendAgain(this.#flight.splice(0)))
      return
    }
    for (const { failure, onDoubt } of this.#flight) if (failure?.kind === 'doubt') onDoubt()
    this.sessions.lose(session, cause.error)
    this.pump()
    if (!this.role.outlivesOutages) giveUp(this.#flight, cause.error, PATIENCE_MS)
  }

  // Queues runs in their order, before those that came later. Returns the milliseconds of a pause that they need.
  #sendAgain(runs: readonly Run[]): number {
    const again = runs.filter((run) => isSentAgain(run, PATIENCE_MS))
    const conflicts = again.filter(({ failure }) => failure?.kind === 'refused')
    this.counters.retries += conflicts.length
    this.#queue.unshift(...again)
    return conflicts[0] ? pauseOf(conflicts[0]) : 0
  }

  // It was made: whatever happens to the server, its result is found before anybody is told.
  #read = async <T>(ask: (sql: SQL) => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await this.sessions.read('points', ({ sql }) => ask(sql))
      } catch (error) {
        if (!(error instanceof PlantError && this.role.outlivesOutages)) throw error
        await Bun.sleep(READ_AGAIN_MS)
      }
    }
  }
}
