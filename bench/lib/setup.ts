// Installs and builds what the benchmarks need; imports no installed package itself.
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildPlantstore } from './plantstore.ts'
import { run } from './processes.ts'

const root = join(import.meta.dir, '..')

/** Installs a program from the Debian package of the same name; ends the command if it cannot. */
async function program(name: string): Promise<void> {
  if (Bun.which(name)) return
  try {
    await run({ argv: ['apt-get', 'install', '-y', name] })
  } catch {
    console.error(`${name} is missing; install it (Debian: apt-get install ${name})`)
    process.exit(1)
  }
}

/** The packages of the peers. Without them, each peer that needs one fails on its own. */
export async function installPackages(): Promise<void> {
  // better-sqlite3 may have to be compiled, with the headers of this Node.js.
  const node = Bun.which('node')
  const prefix = node && dirname(dirname(realpathSync(node)))
  const headers = prefix && existsSync(join(prefix, 'include/node/node.h'))
  await run({
    argv: [process.execPath, 'install', '--frozen-lockfile'],
    cwd: root,
    ...(headers ? { env: { npm_config_nodedir: prefix } } : {}),
  }).catch((error) => console.error(`cannot install the packages of the peers: ${error.message}`))
}

type Needs = { slowDisk?: boolean; sqlite3?: boolean }

export async function setUp(needs: Needs = {}): Promise<void> {
  if (process.platform !== 'linux') {
    console.error('the benchmarks run on Linux only')
    process.exit(1)
  }
  await program('wrk')
  if (needs.slowDisk) await program('gcc')
  if (needs.sqlite3) await program('sqlite3')
  await buildPlantstore()
}
