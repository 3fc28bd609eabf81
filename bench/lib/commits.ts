// Builds of plantstore at earlier commits.
import { join } from 'node:path'
import { build, project } from './plantstore.ts'
import { run, temporaryFolder } from './processes.ts'

export function commitExists(commit: string): boolean {
  const argv = ['git', 'rev-parse', '--quiet', '--verify', `${commit}^{commit}`]
  return Bun.spawnSync(argv, { cwd: project }).success
}

/** Builds a commit in a temporary folder; returns the executable. */
export async function buildCommit(commit: string): Promise<string> {
  const folder = temporaryFolder()
  const archive = join(folder, 'source.tar')
  await run({ argv: ['git', 'archive', '--output', archive, commit], cwd: project })
  await run({ argv: ['tar', '--extract', '--file', archive], cwd: folder })
  return build(folder)
}
