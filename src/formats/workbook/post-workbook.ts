// The thread's side of reading a workbook: posts its parts.

import { messageOf, OpenError } from '../../errors'
import type { WorkbookPart, WorkbookRequest } from './thread'
import { readWorkbook } from './workbook'

/** Reads a workbook and posts its parts as JSON, then the end or the error. */
export async function postWorkbook(
  { bytes, sheet }: WorkbookRequest,
  post: (text: string) => void,
): Promise<void> {
  const reply = (part: WorkbookPart) => post(JSON.stringify(part))
  try {
    const { rows, ...found } = await readWorkbook(bytes, sheet)
    reply(found)
    for await (const part of rows) reply({ rows: part })
    reply({ end: true })
  } catch (error) {
    reply({ message: messageOf(error), isFileError: error instanceof OpenError })
  }
}
