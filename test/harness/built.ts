// The executable that was built from this source.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dir, '..', '..')
const SOURCES = [
  'build.ts',
  'build-commit.ts',
  'build-pages.ts',
  'bytecode-order.txt',
  'package.json',
  'bun.lock',
]

/** The executable that tests run: `TESTED_BINARY`, or `dist/plantstore`. */
export const builtPath: string = resolve(root, Bun.env.TESTED_BINARY || 'dist/plantstore')

/** Everything that the executable is built from; a folder changes when a file in it is removed. */
const sources = (): string[] => [
  ...SOURCES,
  'src',
  ...readdirSync(join(root, 'src'), { recursive: true }).map((name) => join('src', String(name))),
]

/** The reason why an executable in dist/ does not do as the program under test; any other is taken as it is. */
export function faultOf(executable: string): string | null {
  const name = relative(root, executable)
  if (!existsSync(executable)) return `${executable} does not exist; run: bun run build`
  if (!name.startsWith('dist/')) return null
  const builtAt = statSync(executable).mtimeMs
  const newer = sources().find((source) => statSync(join(root, source)).mtimeMs > builtAt)
  return newer ? `${newer} is newer than ${name}; run: bun run build` : null
}
