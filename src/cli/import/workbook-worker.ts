// The thread that reads a workbook. Entry point of a Worker: loading it starts it.

import { messageOf, OpenError } from '../../errors'
import { readWorkbook } from '../../formats/spreadsheet'
import type { ToRead, WorkbookPart } from './workbook-thread'

declare const self: Worker

const reply = (part: WorkbookPart) => self.postMessage(JSON.stringify(part))

async function readAndReply({ bytes, sheet }: ToRead): Promise<void> {
  const { rows, ...found } = await readWorkbook(bytes, sheet)
  reply(found)
  for await (const part of rows) reply({ rows: part })
  reply({ end: true })
}

self.onmessage = async ({ data }: MessageEvent<ToRead>) => {
  try {
    await readAndReply(data)
  } catch (error) {
    reply({ message: messageOf(error), isOfFile: error instanceof OpenError })
  }
}
