// The program, run as a user who is not root.
import { beforeAll } from 'bun:test'
import { chmodSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { AS_NOBODY } from './commands'
import { PATIENCE_MS, program, type RunOptions, root } from './daemon'
import { ownFolder } from './own-folder'

/** The owner of what the tests make. */
export const testUid = process.getuid?.() ?? 0

/** The user as whom `unprivileged` runs the program. */
export const unprivilegedUid = testUid === 0 ? 65_534 : testUid

/**
 * Runs the program of a file's tests as a user who is not root. For root it is a copy that every user can reach, as the
 * program and Bun may lie in a folder of root's: from source, an executable is built.
 */
export function unprivileged(): RunOptions {
  if (testUid !== 0) return {}
  const folder = ownFolder()
  const copy = folder.file('plantstore')
  beforeAll(() => makeCopy(copy), PATIENCE_MS)
  beforeAll(() => chmodSync(folder.path, 0o755))
  return { under: AS_NOBODY, program: [copy], cwd: folder.path }
}

function makeCopy(path: string): void {
  const [binary = '', ...source] = program
  if (source.length === 0) {
    copyFileSync(binary, path)
    return
  }
  const build = [binary, join(root, 'build.ts'), '--outfile', path]
  const { exitCode, stderr } = Bun.spawnSync(build, { cwd: root })
  if (exitCode !== 0) throw new Error(stderr.toString())
}
