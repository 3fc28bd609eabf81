// The thread of the page that reads a workbook. Entry point of a Worker: loading it starts it.

import { postWorkbook } from '../../../formats/workbook-replies.ts'
import type { ToRead } from '../../../formats/workbook-thread.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<ToRead>) =>
  postWorkbook(data, (text) => self.postMessage(text))
