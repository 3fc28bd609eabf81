// The thread of the page that reads or writes a workbook, or detects an encoding. Entry point of a Worker: loading it starts it.

import { messageOf } from '../../../errors.ts'
import { detectEncoding } from '../../../formats/encoding/detect.ts'
import { postWorkbook, type WorkbookRequest } from '../../../formats/workbook/thread.ts'
import { writeWorkbook } from '../../../formats/workbook/write.ts'
import type { PlantToWrite } from '../../../formats/write.ts'
import type { EncodingRequest, WriteRequest, WriteResult } from './thread.ts'

declare const self: Worker

const load = async (address: string) =>
  (await fetch(new URL(address, import.meta.url))).arrayBuffer()

const PLANTS: PlantToWrite[] = []

function write(): WriteResult {
  try {
    return { bytes: writeWorkbook(PLANTS) }
  } catch (error) {
    return { message: messageOf(error) }
  }
}

self.onmessage = ({ data }: MessageEvent<WorkbookRequest | WriteRequest | EncodingRequest>) => {
  if ('lines' in data) {
    void detectEncoding(data.lines, load).then((detection) => self.postMessage(detection))
    return
  }
  if ('bytes' in data) {
    void postWorkbook(data, (text) => self.postMessage(text))
    return
  }
  if (data.plants) {
    for (const plant of data.plants) PLANTS.push(plant)
    return
  }
  const workbook = write()
  self.postMessage(workbook, 'bytes' in workbook ? [workbook.bytes.buffer] : [])
}
