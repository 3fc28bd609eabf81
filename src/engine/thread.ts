import type { Change } from './changes'
import type { Outcome } from './group-commit'
import type { Files } from './write'

/**
 * Why a batch failed whole. `moved`: the file is no longer where it was opened. `doubtful`: only the disk knows whether
 * it is there, for the commit failed, and so did the one that was to overwrite what it left; or it was made, and where
 * could not be told.
 */
export type Failure = {
  readonly kind: 'full' | 'busy' | 'failed' | 'moved' | 'doubtful'
  readonly detail: string
}

/** What the serving thread asks of the one that writes: one request at a time. */
export type Request =
  | { readonly open: Files }
  | { readonly write: readonly Change[] }
  | { readonly tidy: true }
  | { readonly close: true }

/** What the writing thread says: first an answer to each request, then, unasked, how a checkpoint went. */
export type Reply =
  | 'done'
  | { readonly outcomes: Outcome[] }
  | { readonly failure: Failure }
  | CheckpointReport

/** How a checkpoint went: the pages of the log, and how many of them are in the database now. */
export type CheckpointReport =
  | { readonly checkpointed: number; readonly pages: number }
  | { readonly checkpointFailure: Failure }

export type Answer = Exclude<Reply, CheckpointReport>

/** The thread that writes, seen from the one that serves. Requests are answered one after another. */
export type Thread = {
  ask(request: Request): Promise<Answer>
  terminate(): void
}

/** Starts the writing thread. It lives as long as the store: to start another takes what an outage may lack. */
export function startThread(
  onCheckpoint: (report: CheckpointReport) => void,
  onEnd: () => void,
): Thread {
  const worker = new Worker(new URL('./writer-thread.ts', import.meta.url).href, { smol: true })
  let asked: PromiseWithResolvers<Answer> | undefined
  let turn: Promise<unknown> = Promise.resolve()

  worker.onmessage = ({ data }: MessageEvent<string>) => {
    const reply: Reply = JSON.parse(data)
    if (typeof reply === 'object' && ('pages' in reply || 'checkpointFailure' in reply)) {
      onCheckpoint(reply)
      return
    }
    const { resolve } = asked ?? {}
    asked = undefined
    resolve?.(reply)
  }
  worker.onerror = (event) => {
    const detail = `the writing thread ended: ${event.message}`
    asked?.resolve({ failure: { kind: 'doubtful', detail } })
    asked = undefined
    onEnd()
  }

  return {
    ask(request) {
      const answer = turn.then(() => {
        asked = Promise.withResolvers<Answer>()
        worker.postMessage(JSON.stringify(request))
        return asked.promise
      })
      turn = answer
      return answer
    },
    terminate: () => worker.terminate(),
  }
}
