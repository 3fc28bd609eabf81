// The next version of the program: a copy of the source, built as another commit.
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../harness/daemon'
import { copySource } from '../../harness/source-copy'
import { sh } from './lab'

/** Builds it in a new folder; returns the path of the executable. */
export async function buildNext(folder: string): Promise<string> {
  copySource(folder)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const executable = join(folder, 'plantstore')
  const build = `"${process.execPath}" build.ts --commit next --outfile "${executable}"`
  await sh(['sh', '-c', `cd "${folder}" && ${build}`])
  return executable
}
