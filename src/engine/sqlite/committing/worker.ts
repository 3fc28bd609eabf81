// The thread that waits for the disk, so that the serving thread need not. Entry point of a Worker: loading it starts
// it.

import { DONE } from '../../commit/write'
import { toFailure } from '../file/errors'
import { type Committer, openCommitter } from './committer'
import type { CommitReply, Reply, Request } from './worker-protocol'

declare const self: Worker

let committer: Committer | undefined

const reply = (message: Reply) => self.postMessage(JSON.stringify(message))

function answer(request: Request): CommitReply {
  if ('open' in request) {
    committer = openCommitter(request.open, request.isDistrusted, reply)
    return DONE
  }
  if ('close' in request) {
    committer?.close()
    committer = undefined
    return DONE
  }
  if (!committer) return { failure: { kind: 'failed', detail: 'the database is not open' } }
  return 'rehearse' in request
    ? committer.rehearse(request.rehearse)
    : committer.commit(request.commit)
}

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request: Request = JSON.parse(data)
  try {
    reply(answer(request))
  } catch (error) {
    reply({ failure: toFailure(error) })
  }
  if ('commit' in request) committer?.afterCommit()
}
