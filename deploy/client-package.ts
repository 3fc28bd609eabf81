// Makes the npm package of the client: `bun run build:client` makes dist/client/, which Node, Deno, Bun and bundlers
// take as it is.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json'
import { run } from './run'

const root = join(import.meta.dir, '..')

// Only what the package itself needs: the executable's dependencies are none of the client's.
function manifest(): string {
  const { name, version, license, type } = packageJson
  const { types, default: main } = packageJson.exports['./client']
  const inFolder = (path: string) => path.replace('./dist/client/', './')
  return `${JSON.stringify(
    {
      name,
      version,
      description: 'The TypeScript client of plantstore.',
      license,
      type,
      sideEffects: false,
      exports: { './client': { types: inFolder(types), default: inFolder(main) } },
    },
    null,
    2,
  )}\n`
}

/** Compiles the client into an empty or absent folder, as a package that can be installed. */
export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const tsc = [process.execPath, 'x', 'tsc', '--project', 'src/client/tsconfig.json']
  run([...tsc, '--outDir', folder], { cwd: root })
  await Bun.write(join(folder, 'package.json'), manifest())
  await Bun.write(join(folder, 'LICENSE'), Bun.file(join(root, 'LICENSE')))
  // The other pages of docs/ are not in the package.
  const readme = await Bun.file(join(root, 'docs/client.md')).text()
  await Bun.write(join(folder, 'README.md'), readme.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1'))
}

/** Packs a built client into a file that `npm install` takes: the same input gives the same bytes. */
export function packClient(folder: string, outfile: string): void {
  // A package has the modes of its files, which are those of the umask.
  for (const file of readdirSync(folder)) chmodSync(join(folder, file), 0o644)
  const packed = mkdtempSync(join(folder, '..', '.packed-'))
  try {
    run([process.execPath, 'pm', 'pack', '--quiet', '--destination', packed], { cwd: folder })
    renameSync(join(packed, `${packageJson.name}-${packageJson.version}.tgz`), outfile)
  } finally {
    rmSync(packed, { recursive: true, force: true })
  }
}

if (import.meta.main) await buildClient(join(root, 'dist/client'))
