// Writes a workbook in a thread, as SheetJS takes one long call.

import { MAX_WORKBOOK_PLANTS } from '../../../formats/format.ts'
import type { PlantToWrite } from '../../../formats/write.ts'
import { countPlants } from '../counts.ts'
import { startThread, type WriteResult } from './thread.ts'

/** Starts to write a workbook, until `signal` is aborted. Nothing can be saved before its end. */
export function openWorkbook(signal: AbortSignal) {
  const thread = startThread<WriteResult>()
  let count = 0
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>()
  const abort = () => {
    thread.terminate()
    reject(signal.reason)
  }
  // A caller may never await the end.
  promise.catch(() => {})
  signal.addEventListener('abort', abort)
  thread.onmessage = ({ data }) =>
    'bytes' in data ? resolve(data.bytes) : reject(new Error(data.message))
  thread.onerror = ({ message }) => reject(new Error(message || 'the page could not be loaded'))
  return {
    start: '',

    add(plants: readonly PlantToWrite[]): '' {
      count += plants.length
      if (count > MAX_WORKBOOK_PLANTS)
        throw new Error(
          `a workbook is written of up to ${countPlants(MAX_WORKBOOK_PLANTS)}; export CSV`,
        )
      thread.postMessage({ plants })
      return ''
    },

    /** Resolves to the workbook of all plants that were added. */
    end(): Promise<Uint8Array<ArrayBuffer>> {
      thread.postMessage({ plants: null })
      return promise
    },

    close(): void {
      signal.removeEventListener('abort', abort)
      thread.terminate()
    },
  }
}
