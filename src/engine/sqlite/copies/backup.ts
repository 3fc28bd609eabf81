// Copies a database while others write to it, and checks the copy.

import { OpenError } from '../../../errors'
import type { Findings } from '../../../store'
import { fileSize } from '../file/database-file'
import { copyMoment, type OnBytes } from '../read-only/copy'
import { checkCopy } from './check-thread'

/**
 * Copies a database as of one moment to a new file in a private folder, and checks the copy, which is not synced.
 * Resolves to the findings. Throws an `OpenError` if it is damaged.
 */
export async function copyDatabase(
  source: string,
  target: string,
  onBytes?: OnBytes,
): Promise<Findings> {
  await copyMoment(source, target, onBytes)
  const bytes = fileSize(target)
  const findings = await checkCopy(target, () => onBytes?.(bytes, bytes))
  if (findings.problems.length > 0)
    throw new OpenError(`${source} is damaged: ${findings.problems[0]}`, true)
  return findings
}
