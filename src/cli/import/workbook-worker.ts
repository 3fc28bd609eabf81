// The thread of the command that reads a workbook. Entry point of a Worker: loading it starts it.

import { postWorkbook } from '../../formats/workbook/post-workbook'
import type { WorkbookRequest } from '../../formats/workbook/thread'

declare const self: Worker

// SheetJS writes there what it does not know of a workbook, such as formats of numbers.
console.error = () => {}

self.onmessage = ({ data }: MessageEvent<WorkbookRequest>) =>
  postWorkbook(data, (text) => self.postMessage(text))
