// Finds the commit that an executable is built from.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const GIT = ['--git-dir=.git', 'describe', '--always', '--dirty', '--exclude=*', '--abbrev=12']

/**
 * The commit of a folder: at least 12 digits, and `-dirty` if files were changed since; `unknown` without Git. A folder
 * inside another repository, such as an unpacked archive, has no commit of its own.
 */
export function commitOf(folder: string): string {
  if (!existsSync(join(folder, '.git')) || !Bun.which('git')) return 'unknown'
  const { exitCode, stdout } = Bun.spawnSync(['git', ...GIT], { cwd: folder, stderr: 'inherit' })
  return exitCode === 0 ? stdout.toString().trim() : 'unknown'
}

// Prints it: `bun build-commit.ts`.
if (import.meta.main) console.log(commitOf(import.meta.dir))
