// The thread of the command that reads a workbook. Entry point of a Worker: loading it starts it.

import { postWorkbook, type WorkbookRequest } from '../../formats/workbook/thread'

declare const self: Worker

// SheetJS warns there about unknown parts of a workbook, such as number formats.
console.error = () => {}

self.onmessage = ({ data }: MessageEvent<WorkbookRequest>) =>
  postWorkbook(data, (text) => self.postMessage(text))
