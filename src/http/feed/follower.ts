// One client that follows the change log, in a loop: sends the next page, or waits for one.

import { RequestError } from '../../errors'
import type { Store } from '../../store'
import { type AnswerBudget, UNREAD_SECONDS } from '../answers/answer-budget'
import { type EventPage, type EventPages, firstEvent, KEEP_ALIVE } from './event-pages'

// Spreads reconnects after a restart, over this time and as much again.
const RETRY_MS = 1000

export type FollowerDeps = {
  readonly store: Pick<Store, 'changeLog'>
  readonly pages: EventPages
  readonly answerBudget: AnswerBudget
  /** Closes the connection of a request after this many seconds without progress. */
  readonly timeOut: (request: Request, seconds: number) => void
  /** Interval of comments to an idle follower. */
  readonly keepAliveMs: number
}

export class Follower {
  /** The hash of its token. */
  readonly hash: string
  readonly #deps: FollowerDeps
  #cursor = ''
  #sentAt = performance.now()
  #isEnded = false
  #endWait = () => {}

  constructor(hash: string, deps: FollowerDeps) {
    this.hash = hash
    this.#deps = deps
  }

  /** The cursor of the last event that it has sent. */
  get cursor(): string {
    return this.#cursor
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Checks for new changes, if it is waiting. */
  wake(): void {
    this.#endWait()
  }

  /** Sends a comment, if it has been idle for long. */
  wakeIfQuiet(): void {
    if (this.#isQuiet()) this.wake()
  }

  /** Ends its stream. */
  end(): void {
    this.#isEnded = true
    this.wake()
  }

  /** The body of the answer: a page, then everything that follows. `onEnd` is called at the end of the stream. */
  stream(request: Request, first: EventPage, onEnd: () => void): ReadableStream {
    const send = async (controller: ReadableStreamDirectController) => {
      this.#deps.timeOut(request, UNREAD_SECONDS)
      try {
        await this.#run(controller, first)
      } catch (error) {
        // Its cursor has expired, or the store fails: the client gets the error when it reconnects.
        if (!(error instanceof RequestError)) throw error
      } finally {
        onEnd()
      }
      await controller.end()
    }
    return new ReadableStream({
      type: 'direct',
      pull: send,
      cancel: () => {
        this.end()
        onEnd()
      },
    })
  }

  async #run(controller: ReadableStreamDirectController, first: EventPage): Promise<void> {
    const retry = Math.round(RETRY_MS * (1 + Math.random()))
    await this.#send(controller, firstEvent(retry, first))
    if (first.events) await this.#send(controller, first.events)
    this.#cursor = first.next
    while (!this.#isEnded) if (!(await this.#step(controller))) return
  }

  /** Sends the next page, or waits for one. Resolves to false if the change log has ended. */
  async #step(controller: ReadableStreamDirectController): Promise<boolean> {
    const { pages, store } = this.#deps
    const { growth } = pages
    const { changeLog } = store
    if (!changeLog) return false
    const { events, next } = await pages.pageAfter(changeLog, this.#cursor)
    this.#cursor = next
    if (this.#isEnded) return false
    if (events) await this.#send(controller, events)
    else if (this.#isQuiet()) await this.#send(controller, KEEP_ALIVE)
    else if (growth === pages.growth) await this.#wait()
    return true
  }

  /** Resolves when the kernel has all of the bytes, or the client has disconnected. */
  async #send(controller: ReadableStreamDirectController, bytes: Uint8Array): Promise<void> {
    const holding = this.#deps.answerBudget.hold(bytes.byteLength)
    if (!holding) return this.end()
    this.#sentAt = performance.now()
    controller.write(bytes)
    await controller.flush(true)
    holding.release()
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#endWait = resolve
    })
  }

  #isQuiet(): boolean {
    return performance.now() - this.#sentAt >= this.#deps.keepAliveMs
  }
}
