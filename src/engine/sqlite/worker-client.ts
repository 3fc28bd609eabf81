// The committing thread, seen from the serving one.

import type { Failure } from './errors'
import type { Answer, CheckpointReport, Reply, Request } from './worker-protocol'
import { isReport } from './worker-protocol'

export type WorkerClient = ReturnType<typeof startWorker>

/**
 * Starts the committing thread. If it dies, the requests that it has not answered are in doubt, and those to come fail.
 */
export function startWorker(onReport: (report: CheckpointReport) => void) {
  const worker = new Worker(new URL('./worker.ts', import.meta.url).href, { smol: true })
  const asking: ((answer: Answer) => void)[] = []
  let death: string | undefined

  worker.onmessage = ({ data }: MessageEvent<string>) => {
    const reply: Reply = JSON.parse(data)
    if (isReport(reply)) onReport(reply)
    else asking.shift()?.(reply)
  }
  worker.onerror = ({ message }) => {
    death = `the committing thread died: ${message}`
    const failure: Failure = { kind: 'failed', detail: death }
    for (const answer of asking.splice(0)) answer({ failure, inDoubt: null })
  }

  return {
    isDead: () => death !== undefined,
    ask(request: Request): Promise<Answer> {
      if (death) return Promise.resolve({ failure: { kind: 'failed', detail: death } })
      return new Promise((resolve) => {
        asking.push(resolve)
        worker.postMessage(JSON.stringify(request))
      })
    },
    terminate: () => worker.terminate(),
  }
}
