// The thread that waits for the disk, so that the serving thread never does. The entry of a Worker: loading it starts it.

import { createCheckpointer } from './checkpoint'
import { openCommitter } from './committer'
import { toFailure } from './errors'
import type { Answer, Reply, Request } from './worker-protocol'

declare const self: Worker

type Committer = ReturnType<typeof openCommitter>

let committer: Committer | undefined
let checkpointer: ReturnType<typeof createCheckpointer> | undefined

const reply = (message: Reply) => self.postMessage(JSON.stringify(message))

function close(): void {
  checkpointer?.stop()
  committer?.close()
  checkpointer = undefined
  committer = undefined
}

function answer(request: Request): Answer {
  if ('open' in request) {
    committer = openCommitter(request.open)
    checkpointer = createCheckpointer(committer.db, reply)
    return 'done'
  }
  if ('close' in request) {
    close()
    return 'done'
  }
  if (!committer) return { failure: { kind: 'failed', detail: 'the database is not open' } }
  return committer.commit(request.commit)
}

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request: Request = JSON.parse(data)
  try {
    reply(answer(request))
  } catch (error) {
    reply({ failure: toFailure(error) })
  }
  if ('commit' in request) checkpointer?.afterCommit()
}
