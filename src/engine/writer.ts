import type { Change } from './changes'
import { createInlineWriter } from './inline-writer'
import {
  type Answer,
  type CheckpointReport,
  type Request,
  reserveDescriptors,
  startThread,
  type Thread,
} from './thread'
import type { Files } from './write'

/**
 * What commits the batches of a store, one at a time, in whichever thread is the faster. The thread that writes is
 * started when it is needed first, and outlives every opening.
 */
export function createWriter(onCheckpoint: (report: CheckpointReport) => void) {
  const letGoDescriptors = reserveDescriptors()
  let thread: Thread | undefined
  let files: Files | undefined
  let inline: ReturnType<typeof createInlineWriter> | undefined
  /** How the opening of the thread's connection went, or goes. */
  let opening: Promise<Answer> | undefined
  let isTidying = false

  async function ask(request: Request): Promise<Answer> {
    if (!files) return { failure: { kind: 'failed', detail: 'the database is not open' } }
    if (!thread) {
      letGoDescriptors()
      thread = startThread(files, onCheckpoint, () => {
        thread = undefined
        opening = undefined
      })
      opening = thread.opened
    }
    opening ??= thread.ask({ open: files })
    const opened = await opening
    if (opened !== 'done') {
      opening = undefined
      return opened
    }
    return thread?.ask(request) ?? { failure: { kind: 'failed', detail: 'the thread has ended' } }
  }

  async function tidy(): Promise<void> {
    isTidying = true
    const answer = await ask({ tidy: true })
    isTidying = false
    if (typeof answer === 'object' && 'failure' in answer) {
      onCheckpoint({ checkpointFailure: answer.failure })
    }
  }

  return {
    open(opened: Files): void {
      files = opened
      inline = createInlineWriter(opened, tidy)
    },
    /** Makes a batch durable, and says how each of its changes ended. */
    async commit(batch: readonly Change[]): Promise<Answer> {
      const started = performance.now()
      // While the log is copied the disk is busy, and only the other thread may wait for it.
      const answer = (isTidying ? null : inline?.write(batch)) ?? (await ask({ write: batch }))
      inline?.took(performance.now() - started)
      return answer
    },
    /** Closes the connections of both threads. */
    async close(): Promise<Answer> {
      files = undefined
      const opened = await opening
      const answer = opened === 'done' && thread ? await thread.ask({ close: true }) : 'done'
      opening = undefined
      inline?.close()
      inline = undefined
      return answer
    },
    terminate(): void {
      thread?.terminate()
      letGoDescriptors()
    },
  }
}
