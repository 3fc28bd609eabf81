// The thread that waits for the disk, so that the serving thread need not. Entry point of a Worker: loading it starts
// it.

import { DONE } from '../commit/write'
import { Committer, type DatabaseToOpen, type Reply, type Request } from './committer'
import { toFailure } from './errors'

declare const self: Worker

let database: DatabaseToOpen | undefined
let committer: Committer | undefined

const send = (reply: Reply) => self.postMessage(JSON.stringify(reply))

function answer(request: Request): Reply {
  if ('open' in request) database = request.open
  if ('close' in request) {
    committer?.close(request.keepsLog)
    return DONE
  }
  if (!database) throw new Error('the database is not open')
  committer ??= new Committer(database)
  if ('open' in request) return DONE
  return 'commit' in request
    ? committer.commit(request.commit)
    : committer.rehearse(request.rehearse)
}

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request: Request = JSON.parse(data)
  try {
    send(answer(request))
    if ('close' in request) return
    const failure = committer?.checkpoint()
    if (failure) send({ failure })
  } catch (error) {
    send({ failure: toFailure(error, database?.path ?? '') })
  }
}
