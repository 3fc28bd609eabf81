// The committing thread, seen from the serving one: opens the database there, and asks it to commit.

import { watchInode } from '../../files/libc'
import type { Change } from '../change'
import type { Failure } from './errors'
import {
  type Answer,
  type CheckpointReport,
  failureOf,
  isReport,
  type Reply,
  type Request,
} from './worker-protocol'

/** A thread: requests are answered in their order. If it dies, those not answered are in doubt, and all others fail. */
function startThread(onReport: (report: CheckpointReport) => void) {
  const worker = new Worker(new URL('./worker.ts', import.meta.url).href, { smol: true })
  const asking: ((answer: Answer) => void)[] = []
  let death: Failure | undefined

  worker.onmessage = ({ data }: MessageEvent<string>) => {
    const reply: Reply = JSON.parse(data)
    if (isReport(reply)) onReport(reply)
    else asking.shift()?.(reply)
  }
  worker.onerror = ({ message }) => {
    const failure: Failure = { kind: 'failed', detail: `the committing thread died: ${message}` }
    death = failure
    for (const answer of asking.splice(0)) answer({ failure, inDoubt: null })
  }

  return {
    isDead: () => death !== undefined,
    ask(request: Request): Promise<Answer> {
      if (death) return Promise.resolve({ failure: death })
      return new Promise((resolve) => {
        asking.push(resolve)
        worker.postMessage(JSON.stringify(request))
      })
    },
    terminate: () => worker.terminate(),
  }
}

/** The thread that commits to one database. It is started when it is first opened, and anew if it has died. */
export class WorkerClient {
  readonly #inode: string | null
  #thread: ReturnType<typeof startThread> | undefined
  #opening: Promise<Answer> | undefined
  #pending = 0
  #pendingSince = 0
  #confirmedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly path: string,
    private readonly onReport: (report: CheckpointReport) => void,
  ) {
    this.#inode = watchInode(path)()
  }

  /** Whether the thread has the database open, or is about to. */
  get isOpen(): boolean {
    return this.#opening !== undefined
  }

  /** Opens the database there, if it is not open. After a failed write or sync nothing may be trusted from the cache. */
  async open(distrustsPageCache = false): Promise<Answer> {
    if (!this.#thread || this.#thread.isDead()) this.#thread = startThread(this.onReport)
    const { path } = this
    this.#opening ??= this.#thread.ask({
      open: { path, inode: this.#inode, distrustsPageCache },
    })
    const answer = await this.#opening
    if (answer !== 'done') this.#opening = undefined
    return answer
  }

  /** Commits a batch; one that this waits for is not over before the disk has confirmed it. */
  async commit(changes: readonly Change[]): Promise<Answer> {
    if (this.#pending === 0) this.#pendingSince = performance.now()
    this.#pending += 1
    const opened = await this.open()
    const answer = opened === 'done' ? await this.#ask({ commit: changes }) : opened
    this.#pending -= 1
    this.#pendingSince = performance.now()
    if (failureOf(answer) === null) this.confirm()
    return answer
  }

  /** Notes that the disk has just taken a write, in whichever thread. */
  confirm(): void {
    this.#confirmedAt = performance.now()
  }

  /** Milliseconds since the disk last confirmed a write. */
  sinceConfirmed(): number {
    return performance.now() - this.#confirmedAt
  }

  /** Milliseconds for which the disk has kept a commit waiting; 0 where none waits. */
  stalledFor(): number {
    return this.#pending === 0 ? 0 : performance.now() - this.#pendingSince
  }

  /** Closes the database there, which waits for the disk. */
  async close(): Promise<Failure | null> {
    this.#opening = undefined
    return failureOf(await this.#ask({ close: true }))
  }

  terminate(): void {
    this.#thread?.terminate()
  }

  #ask(request: Request): Promise<Answer> {
    return this.#thread?.ask(request) ?? Promise.resolve('done')
  }
}
