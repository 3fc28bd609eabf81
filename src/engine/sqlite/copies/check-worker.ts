// The thread that checks a copy. Entry point of a Worker: loading it starts it.

import { messageOf, OpenError } from '../../../errors'
import { checkDatabase } from './check'
import type { CheckReply, CheckRequest } from './check-thread'

declare const self: Worker

async function answer({ path }: CheckRequest): Promise<CheckReply> {
  try {
    return { findings: await checkDatabase(path) }
  } catch (error) {
    return { message: messageOf(error), isStorage: error instanceof OpenError && error.storage }
  }
}

self.onmessage = async ({ data }: MessageEvent<string>) => {
  self.postMessage(JSON.stringify(await answer(JSON.parse(data))))
}
