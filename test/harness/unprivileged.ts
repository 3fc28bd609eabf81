// The program, run as a user who is not root.
import { afterAll } from 'bun:test'
import { chmodSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { AS_NOBODY } from './commands'
import { program, type RunOptions, root, temporaryFolder } from './daemon'

/**
 * How the tests of a file run the program as a user who is not root. For root it is a copy that every user can reach, where
 * the program and Bun may lie in a folder of root's: of the source, an executable is made.
 */
export function unprivileged(): RunOptions {
  if (process.getuid?.() !== 0) return {}
  const folder = temporaryFolder()
  afterAll(folder[Symbol.dispose])
  chmodSync(folder.path, 0o755)
  const copy = folder.file('plantstore')
  const [binary = '', ...source] = program
  if (source.length === 0) {
    copyFileSync(binary, copy)
  } else {
    const build = [binary, join(root, 'build.ts'), '--outfile', copy]
    const { exitCode, stderr } = Bun.spawnSync(build, { cwd: root })
    if (exitCode !== 0) throw new Error(stderr.toString())
  }
  return { under: AS_NOBODY, program: [copy], cwd: folder.path }
}
