// Reads a workbook in a thread.

import { readInThread } from '../../../formats/workbook/thread.ts'
import type { Workbook } from '../../../formats/workbook/workbook.ts'
import { startThread } from './thread.ts'

/** Reads a sheet of a workbook, until `signal` is aborted. Throws an `OpenError` if it cannot be read. */
export const readWorkbookInThread = (
  bytes: Uint8Array,
  sheet: string | null,
  signal: AbortSignal,
): Promise<Workbook> => readInThread(startThread(), { bytes, sheet }, signal)
