// Copies a database while others write to it, and checks the copy.

import { OpenError } from '../../errors'
import type { Findings } from '../../store'
import { checkDatabase } from './check'
import { copyMoment, type OnBytes } from './read-only'

/**
 * Copies a database as of one moment to a new file in a private folder, and checks the copy, which is not synced. Resolves
 * to what was found. Throws an `OpenError` if it is damaged.
 */
export async function copyDatabase(from: string, to: string, onBytes?: OnBytes): Promise<Findings> {
  await copyMoment(from, to, onBytes)
  const found = await checkDatabase(to, true)
  if (found.problems.length > 0)
    throw new OpenError(`${from} is damaged: ${found.problems[0]}`, true)
  return found
}
