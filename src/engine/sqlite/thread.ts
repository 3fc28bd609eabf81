// The thread that waits for the disk, so that the serving thread need not. Entry point of a Worker: loading it starts
// it.

import { DONE } from '../commit/write'
import { Committer, type Reply, type Request } from './committer'
import { toFailure } from './errors'

declare const self: Worker

let committer: Committer | undefined

const send = (reply: Reply) => self.postMessage(JSON.stringify(reply))

function answer(request: Request): Reply {
  if ('open' in request) committer = new Committer(request.open)
  else if ('close' in request) committer?.close(request.keepsLog)
  else if (!committer) return { failure: { kind: 'refused', detail: 'the database is not open' } }
  else if ('commit' in request) return committer.commit(request.commit)
  else return committer.rehearse(request.rehearse)
  return DONE
}

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request: Request = JSON.parse(data)
  try {
    send(answer(request))
    if ('close' in request) return
    const failure = committer?.checkpoint()
    if (failure) send({ failure })
  } catch (error) {
    send({ failure: toFailure(error) })
  }
}
