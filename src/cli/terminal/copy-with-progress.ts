// Copies a database with progress. Ctrl-C interrupts it.

import { EXIT_CODES } from '../../program'
import type { Output } from '../command'
import { interruptible } from './interrupt'
import { createProgress, inMegabytes } from './progress'

/**
 * Runs `copy` with progress, then prints its result. It can be interrupted at its calls of `onBytes`. Resolves to the
 * exit code, or to that of the signal.
 */
export const copyWithProgress = (
  out: Output,
  err: Output,
  copy: (onBytes: (doneBytes: number, total: number) => void) => Promise<string>,
): Promise<number> =>
  interruptible(async (signal) => {
    const progress = createProgress(err, inMegabytes)
    const onBytes = (doneBytes: number, total: number) => {
      signal.throwIfAborted()
      progress.update(doneBytes, doneBytes, total)
    }
    out.write(await copy(onBytes).finally(progress.end))
    return EXIT_CODES.ok
  })
