// The serving thread's side of the committing thread: requests that it open the database and commit.

import type { PlantWrite, Write } from '../../commit/write'
import type { StorageFailure, StorageState } from '../../storage-state'
import { toFailure } from '../file/errors'
import {
  type CheckpointReport,
  type CommitReply,
  type DatabaseToOpen,
  failureOf,
  isReport,
  type Reply,
  type Request,
} from './worker-protocol'

/** The thread that commits to one database. Started by the first request, and by the next one after it has died. */
export class WorkerClient {
  #thread: Worker | undefined
  /** Pending requests; they are answered in order. */
  #pendingReplies: ((answer: CommitReply) => void)[] = []
  #opening: Promise<StorageFailure | null> | undefined

  constructor(
    private readonly database: DatabaseToOpen,
    private readonly state: StorageState,
    private readonly onReport: (report: CheckpointReport) => void,
  ) {}

  /** True if the thread has opened the database, or is opening it. */
  get isOpen(): boolean {
    return this.#opening !== undefined
  }

  /** Opens the database in the thread, unless it is open. */
  open(isDistrusted = false): Promise<StorageFailure | null> {
    this.#opening ??= this.#open(isDistrusted)
    return this.#opening
  }

  /** Commits a batch. Resolves when the disk has confirmed it, or the commit has failed. */
  async commit(batch: readonly Write[]): Promise<CommitReply> {
    this.state.beginWrite()
    const failure = await this.open()
    const answer = failure ? { failure } : await this.#ask({ commit: batch })
    this.state.endWrite()
    if (failureOf(answer) === null) this.state.confirmWrite()
    return answer
  }

  /** Writes the pages of a create and these changes, and rolls back. Resolves to the failure, or null. */
  async rehearse(changes: readonly PlantWrite[]): Promise<StorageFailure | null> {
    this.state.beginWrite()
    const failure = (await this.open()) ?? failureOf(await this.#ask({ rehearse: changes }))
    this.state.endWrite()
    return failure
  }

  /** Closes the database in the thread, which waits for the disk. */
  async close(): Promise<StorageFailure | null> {
    this.#opening = undefined
    return failureOf(await this.#ask({ close: true }))
  }

  terminate(): void {
    this.#thread?.terminate()
  }

  async #open(isDistrusted: boolean): Promise<StorageFailure | null> {
    // Rejects if the thread cannot be started.
    const reply = Promise.try(() => this.#ask({ open: this.database, isDistrusted }))
    const failure = await reply.then(failureOf, toFailure)
    if (failure) this.#opening = undefined
    return failure
  }

  #ask(request: Request): Promise<CommitReply> {
    this.#thread ??= this.#start()
    const { promise, resolve } = Promise.withResolvers<CommitReply>()
    this.#pendingReplies.push(resolve)
    this.#thread.postMessage(JSON.stringify(request))
    return promise
  }

  #start(): Worker {
    const thread = new Worker(new URL('./worker.ts', import.meta.url).href, { smol: true })
    thread.onmessage = ({ data }: MessageEvent<string>) => {
      const reply: Reply = JSON.parse(data)
      if (isReport(reply)) this.onReport(reply)
      else this.#pendingReplies.shift()?.(reply)
    }
    thread.onerror = ({ message }) => {
      // This thread was replaced: the pending requests belong to the new one.
      if (this.#thread !== thread) return
      const detail = `the committing thread died: ${message}`
      this.#thread = undefined
      this.#opening = undefined
      for (const answer of this.#pendingReplies.splice(0)) {
        answer({ failure: { kind: 'failed', detail }, inDoubt: null, lastEntry: null })
      }
    }
    return thread
  }
}
