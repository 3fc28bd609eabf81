// The next version of the program: a copy of the source whose schema has one more step.
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../harness/daemon'
import { copySource } from '../../harness/source-copy'
import { sh } from './lab'

const MIGRATIONS = 'src/engine/sqlite/schema'

/** Replaces a part of a text that must be there. */
function replaced(text: string, part: string | RegExp, by: string): string {
  const result = text.replace(part, by)
  if (result === text) throw new Error(`nothing to replace by ${by}`)
  return result
}

/** Builds it in a new folder; returns the path of the executable. */
export async function buildNext(folder: string): Promise<string> {
  copySource(folder)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const step = join(folder, MIGRATIONS, '9999_next.sql')
  writeFileSync(step, 'ALTER TABLE plants ADD COLUMN next TEXT;\n')
  const file = join(folder, `${MIGRATIONS}.ts`)
  const text = replaced(
    readFileSync(file, 'utf8'),
    /(?<=const MIGRATIONS = \[[^\]]*)\]/,
    '  next,\n]',
  )
  const imported = "import next from './migrations/9999_next.sql' with { type: 'text' }\n"
  writeFileSync(
    file,
    replaced(text, /^import plantsAndTokens/m, `${imported}import plantsAndTokens`),
  )
  const executable = join(folder, 'plantstore')
  const build = `"${process.execPath}" build.ts --commit next --outfile "${executable}"`
  await sh(['sh', '-c', `cd "${folder}" && ${build}`])
  return executable
}
