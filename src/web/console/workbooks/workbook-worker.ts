// The thread of the page that reads or writes a workbook, or detects an encoding. Entry point of a Worker: loading it starts it.

import { messageOf } from '../../../errors.ts'
import { detectEncoding } from '../../../formats/encoding/detect.ts'
import { postWorkbook } from '../../../formats/workbook/replies.ts'
import type { ToRead } from '../../../formats/workbook/thread.ts'
import { writeWorkbook } from '../../../formats/workbook/write.ts'
import type { PlantToWrite } from '../../../formats/write.ts'
import type { ToDetect } from './thread.ts'
import type { ToWrite, Written } from './written.ts'

declare const self: Worker

const load = async (address: string) =>
  (await fetch(new URL(address, import.meta.url))).arrayBuffer()

const all: PlantToWrite[] = []

function write(): Written {
  try {
    return { bytes: writeWorkbook(all) }
  } catch (error) {
    return { message: messageOf(error) }
  }
}

self.onmessage = ({ data }: MessageEvent<ToRead | ToWrite | ToDetect>) => {
  if ('sample' in data) {
    void detectEncoding(data.sample, load).then((detected) => self.postMessage(detected))
    return
  }
  if ('bytes' in data) {
    void postWorkbook(data, (text) => self.postMessage(text))
    return
  }
  if (data.plants) {
    for (const plant of data.plants) all.push(plant)
    return
  }
  const written = write()
  self.postMessage(written, 'bytes' in written ? [written.bytes.buffer] : [])
}
