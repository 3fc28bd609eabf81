// The serving thread's side of the committing thread: has it open the database and commit.

import { watchInode } from '../../files/libc'
import type { Change } from '../change'
import { Confirmations } from '../health'
import type { StorageFailure } from './errors'
import {
  type Answer,
  type CheckpointReport,
  failureOf,
  isReport,
  type Reply,
  type Request,
} from './worker-protocol'

/** A thread that answers requests in order. If it dies, unanswered requests are in doubt, and later ones fail. */
function startThread(onReport: (report: CheckpointReport) => void) {
  const worker = new Worker(new URL('./worker.ts', import.meta.url).href, { smol: true })
  const asking: ((answer: Answer) => void)[] = []
  let death: StorageFailure | undefined

  worker.onmessage = ({ data }: MessageEvent<string>) => {
    const reply: Reply = JSON.parse(data)
    if (isReport(reply)) onReport(reply)
    else asking.shift()?.(reply)
  }
  worker.onerror = ({ message }) => {
    const failure: StorageFailure = {
      kind: 'failed',
      detail: `the committing thread died: ${message}`,
    }
    death = failure
    for (const answer of asking.splice(0)) answer({ failure, inDoubt: null, logged: null })
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

/** The thread that commits to one database. It is started at the first opening, and again if it has died. */
export class WorkerClient {
  readonly confirmations = new Confirmations()
  readonly #inode: string | null
  #thread: ReturnType<typeof startThread> | undefined
  #opening: Promise<Answer> | undefined

  constructor(
    private readonly path: string,
    private readonly onReport: (report: CheckpointReport) => void,
    private readonly mayLog: () => boolean,
  ) {
    this.#inode = watchInode(path)()
  }

  /** Whether the thread has the database open, or is about to. */
  get isOpen(): boolean {
    return this.#opening !== undefined
  }

  /** Opens the database there, if it is not open. After a failed write or sync, the page cache must not be trusted. */
  async open(distrustsPageCache = false): Promise<Answer> {
    if (!this.#thread || this.#thread.isDead()) this.#thread = startThread(this.onReport)
    const { path } = this
    const mayLog = this.mayLog()
    this.#opening ??= this.#thread.ask({
      open: { path, inode: this.#inode, distrustsPageCache, mayLog },
    })
    const answer = await this.#opening
    if (answer !== 'done') this.#opening = undefined
    return answer
  }

  /** Commits a batch. Resolves when the disk has confirmed it, or it has failed. */
  async commit(changes: readonly Change[]): Promise<Answer> {
    this.confirmations.sent()
    const opened = await this.open()
    const answer = opened === 'done' ? await this.#ask({ commit: changes }) : opened
    this.confirmations.answered()
    if (failureOf(answer) === null) this.confirmations.confirmed()
    return answer
  }

  /** Closes the database there, which waits for the disk. */
  async close(): Promise<StorageFailure | null> {
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
