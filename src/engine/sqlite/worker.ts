// The thread that writes: its disk may keep it waiting, and the thread that serves goes on meanwhile.
// This file is the entry of a Worker: it acts when it is loaded, like `main.ts`.

import { openForWriting } from './committer'
import { toFailure } from './failure'
import type { Reply, Request } from './worker-client'

declare const self: Worker

const BUSY_MS = 10_000

/** What the thread that started this one waits for; the first message. */
let isOpen: Int32Array | undefined
let writing: ReturnType<typeof openForWriting> | undefined

// Requests and replies are JSON in one string: the cheapest message that there is between two threads of Bun.
const reply = (message: Reply) => self.postMessage(JSON.stringify(message))

function tidy(isForced = false): void {
  const report = writing?.tidy(isForced)
  if (report) reply(report)
}

self.onmessage = ({ data }: MessageEvent<Int32Array | string>) => {
  if (typeof data !== 'string') {
    isOpen = data
    return
  }
  const request: Request = JSON.parse(data)
  try {
    if ('open' in request) {
      writing = openForWriting(request.open, BUSY_MS)
      reply('done')
    } else if ('close' in request) {
      writing?.close()
      writing = undefined
      reply('done')
    } else if (!writing) {
      reply({ failure: { kind: 'failed', detail: 'the database is not open' } })
    } else if ('tidy' in request) {
      tidy(request.tidy === 'now')
      reply('done')
    } else {
      reply(writing.write(request.write))
      tidy()
    }
  } catch (error) {
    reply({ failure: toFailure(error) })
  }
  if (isOpen) {
    Atomics.store(isOpen, 0, 1)
    Atomics.notify(isOpen, 0)
    isOpen = undefined
  }
}
