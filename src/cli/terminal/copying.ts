// A command that copies a database: a bar of what is done, and an end at Ctrl-C.

import { exitCodes } from '../../program'
import type { Output } from '../command'
import { interruptible } from './interrupt'
import { createProgress, inMegabytes } from './progress'

/**
 * Runs `copy`, which can be interrupted where it calls `onBytes`, with a bar of what is done; then prints what it resolves to.
 * Resolves to the exit code, or to the signal's if one came.
 */
export const copying = (
  out: Output,
  err: Output,
  copy: (onBytes: (done: number, total: number) => void) => Promise<string>,
): Promise<number> =>
  interruptible(async (check) => {
    const progress = createProgress(err, inMegabytes)
    const onBytes = (done: number, total: number) => {
      check()
      progress.update(done, done, total)
    }
    out.write(await copy(onBytes).finally(progress.end))
    return exitCodes.ok
  })
