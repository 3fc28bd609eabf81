import { closeSync, openSync } from 'node:fs'
import type { Outcome } from '../group-commit'
import type { Change } from './apply-change'
import type { Files } from './committer'
import type { Failure } from './failure'

/** What the serving thread asks of the one that writes. */
export type Request =
  | { readonly open: Files }
  | { readonly write: readonly Change[] }
  | { readonly tidy: 'when long' | 'now' }
  | { readonly close: true }

/** What the writing thread says: an answer to each request and, unasked, how a checkpoint went. */
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

/** Why nothing was done, or in doubt; null where it was done. */
export const failureOf = (answer: Answer): Failure | null =>
  typeof answer === 'object' && 'failure' in answer ? answer.failure : null

/** The thread that writes, seen from the one that serves. Requests are answered one after another. */
export type Thread = {
  /** How it opened the files. */
  readonly opened: Promise<Answer>
  ask(request: Request): Promise<Answer>
  terminate(): void
}

const RESERVED_DESCRIPTORS = 12
const LONGEST_START_MS = 2000

/** Keeps the descriptors that the first thread takes to start and to open the files; returns what lets them go. */
export function reserveDescriptors(): () => void {
  const reserved = Array.from({ length: RESERVED_DESCRIPTORS }, () => openSync('/dev/null', 'r'))
  return () => {
    for (const fd of reserved.splice(0)) closeSync(fd)
  }
}

/**
 * Starts the writing thread, and has it open the files. It lives as long as the store, unless it fails: to start another
 * takes what an outage may lack. Throws where the system has no thread to give.
 *
 * The serving thread waits for it, some milliseconds, so that nobody who connects takes the descriptors that were let
 * go for it: Bun ends a process that has none when a thread starts.
 */
export function startThread(
  files: Files,
  onCheckpoint: (report: CheckpointReport) => void,
  onEnd: () => void,
): Thread {
  const isOpen = new Int32Array(new SharedArrayBuffer(4))
  const url = new URL('./worker.ts', import.meta.url).href
  const worker = new Worker(url, { smol: true })
  /** Who waits for the answers to come, in their order. */
  const asking: ((answer: Answer) => void)[] = []
  let ended: string | undefined

  worker.onmessage = ({ data }: MessageEvent<string>) => {
    const reply: Reply = JSON.parse(data)
    if (typeof reply === 'object' && ('pages' in reply || 'checkpointFailure' in reply)) {
      onCheckpoint(reply)
      return
    }
    asking.shift()?.(reply)
  }
  worker.onerror = (event) => {
    ended = `the writing thread ended: ${event.message}`
    for (const answer of asking.splice(0)) answer({ failure: { kind: 'doubtful', detail: ended } })
    onEnd()
  }

  async function ask(request: Request): Promise<Answer> {
    if (ended) return { failure: { kind: 'failed', detail: ended } }
    const answer = new Promise<Answer>((resolve) => asking.push(resolve))
    worker.postMessage(JSON.stringify(request))
    return answer
  }

  worker.postMessage(isOpen)
  const opened = ask({ open: files })
  Atomics.wait(isOpen, 0, 0, LONGEST_START_MS)
  return { opened, ask, terminate: () => worker.terminate() }
}
