// Stands for fflate in the bundle of the page: unzips workbooks without a worker, which the content policy forbids.

import { type UnzipCallback, unzipSync } from 'fflate/browser'

export { strFromU8 } from 'fflate/browser'

/** Unpacks an archive. */
export function unzip(archive: Uint8Array, callback: UnzipCallback): void {
  let files: ReturnType<typeof unzipSync>
  try {
    files = unzipSync(archive)
  } catch (error) {
    callback(error as Parameters<UnzipCallback>[0], {})
    return
  }
  callback(null, files)
}
