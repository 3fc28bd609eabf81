// The thread that checks a database. Entry point of a Worker: loading it starts it.

import { messageOf, OpenError } from '../../../errors'
import { checkDatabase, checkPages } from './check'
import type { CheckReply, CheckRequest } from './check-thread'

declare const self: Worker

async function answer({ path, isOpen }: CheckRequest): Promise<CheckReply> {
  try {
    return { findings: isOpen ? checkPages(path) : await checkDatabase(path) }
  } catch (error) {
    return { message: messageOf(error), isStorage: error instanceof OpenError && error.storage }
  }
}

self.onmessage = async ({ data }: MessageEvent<string>) => {
  self.postMessage(JSON.stringify(await answer(JSON.parse(data))))
}
