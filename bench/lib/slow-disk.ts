// A disk with slow syncs, by a library that is loaded before libc. A program that does not sync by libc, as one in Go,
// has the disk as it is. Not by strace: what it takes to stop a thread at each sync is more than a fast disk does.
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, temporaryFolder } from './processes.ts'

let built: string | undefined

function library(): string {
  if (built) return built
  const folder = temporaryFolder()
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755)
  built = join(folder, 'slow-sync.so')
  const source = join(import.meta.dir, 'slow-sync.c')
  const { success, stderr } = Bun.spawnSync([
    ...['gcc', '-O2', '-Wall', '-shared', '-fPIC', '-o', built, source],
  ])
  if (!success) throw new Error(stderr.toString())
  return built
}

/** Adds milliseconds to each fsync and fdatasync of a command. */
export const withSlowSyncs =
  (ms: number) =>
  (command: Command): Command =>
    ms > 0
      ? {
          ...command,
          argv: [
            ...['env', `LD_PRELOAD=${library()}`, `SYNC_DELAY_NS=${Math.round(ms * 1e6)}`],
            ...command.argv,
          ],
        }
      : command
