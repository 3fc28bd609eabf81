// Copies a database while others write to it, and checks the copy.

import { OpenError } from '../../errors'
import { checkDatabase } from './check'
import { copyMoment, type OnBytes } from './read-only'

/**
 * Copies a database as of one moment to a new file in a private folder, and checks the copy, which is not synced. Returns
 * its number of plants. Throws an `OpenError` if it is damaged.
 */
export async function copyDatabase(from: string, to: string, onBytes: OnBytes): Promise<number> {
  await copyMoment(from, to, onBytes)
  const { problems, plants } = await checkDatabase(to)
  if (problems.length > 0) throw new OpenError(`${from} is damaged: ${problems[0]}`, true)
  return plants
}
