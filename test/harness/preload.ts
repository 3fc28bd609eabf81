// Runs before the tests: ends the run at once if packages are missing, or the executable to test is not of this source.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { builtPath, faultOf } from './built'

const root = resolve(import.meta.dir, '..', '..')
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))

function isInstalled([name, version]: [string, string]): boolean {
  const file = join('node_modules', name, 'package.json')
  return existsSync(join(root, file)) && read(file).version === version
}

function end(reason: string): never {
  console.error(reason)
  process.exit(1)
}

const { dependencies, devDependencies } = read('package.json')
if (!Object.entries<string>({ ...dependencies, ...devDependencies }).every(isInstalled)) {
  end('packages are missing or have other versions; run: bun install')
}
// The program would warn of a variable of its own prefix.
if (Bun.env.PLANTSTORE_BINARY) end('name the executable to test with TESTED_BINARY')
const fault = Bun.env.TESTED_BINARY ? faultOf(builtPath) : null
if (fault) end(fault)
