// Copies a database while others write to it, and checks the copy.

import { OpenError } from '../../../errors'
import type { Findings } from '../../../store'
import { fileSize } from '../file/database-file'
import { copyMoment, type OnBytes } from '../read-only/copy'
import { checkInThread } from './check-thread'

/**
 * Copies a database as of one moment to a new file in a private folder, and checks the copy, which is not synced.
 * Resolves to the findings. Throws an `OpenError` if it is damaged.
 */
export async function copyDatabase(from: string, to: string, onBytes?: OnBytes): Promise<Findings> {
  await copyMoment(from, to, onBytes)
  const bytes = fileSize(to)
  const found = await checkInThread(to, () => onBytes?.(bytes, bytes))
  if (found.problems.length > 0)
    throw new OpenError(`${from} is damaged: ${found.problems[0]}`, true)
  return found
}
