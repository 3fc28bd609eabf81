import type { Change } from './apply-change'
import type { Files } from './committer'
import { createInlineWriter } from './inline-writer'
import {
  type Answer,
  type CheckpointReport,
  failureOf,
  type Request,
  reserveDescriptors,
  startThread,
  type Thread,
} from './worker-client'

// How long after a checkpoint that failed the next is tried.
const RETRY_MS = 1000

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
  let opening: Promise<Answer> | 'done' | undefined
  let isTidying = false
  let retry: Timer | undefined

  function report(it: CheckpointReport): void {
    clearTimeout(retry)
    retry = 'checkpointFailure' in it ? setTimeout(tidy, RETRY_MS) : undefined
    onCheckpoint(it)
  }

  function openThread(of: Files): Promise<Answer> {
    if (!thread) {
      letGoDescriptors()
      thread = startThread(of, report, () => {
        thread = undefined
        opening = undefined
      })
      return thread.opened
    }
    return thread.ask({ open: of })
  }

  // Nothing was done where the answer is `busy`: there may be no thread to be had, or no descriptors for its files.
  async function ask(request: Request): Promise<Answer> {
    if (!files) return { failure: { kind: 'failed', detail: 'the database is not open' } }
    // Once it is open the thread is asked at once: to await even what is done would let others act before.
    if (opening !== 'done') {
      try {
        opening ??= openThread(files)
      } catch (error) {
        return { failure: { kind: 'busy', detail: String(error) } }
      }
      const current = opening
      const failure = failureOf(await current)
      if (opening === current) opening = failure ? undefined : 'done'
      if (failure) return { failure: { ...failure, kind: 'busy' } }
    }
    return thread?.ask(request) ?? { failure: { kind: 'busy', detail: 'the thread has ended' } }
  }

  async function tidy(): Promise<void> {
    if (!files) return
    isTidying = true
    const failure = failureOf(await ask({ tidy: retry ? 'now' : 'when long' }))
    isTidying = false
    if (failure) report({ checkpointFailure: failure })
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
      // There is no thread to be had, or another process writes for long: once more, without.
      return (failureOf(answer)?.kind === 'busy' && inline?.commit(batch)) || answer
    },
    /** Closes the connections of both threads. */
    async close(): Promise<Answer> {
      clearTimeout(retry)
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
