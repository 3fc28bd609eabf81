// Brings what the benchmarks need. This file and what it imports use no installed package.
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildAxumSqlite } from './axum-sqlite.ts'
import { buildPlantstore } from './plantstore.ts'
import { buildPocketbase } from './pocketbase.ts'
import { run } from './processes.ts'

const root = join(import.meta.dir, '..')

/** Installs a program of Debian's package of the same name; ends the command where it cannot. */
async function program(name: string): Promise<void> {
  if (Bun.which(name)) return
  try {
    await run({ argv: ['apt-get', 'install', '-y', name] })
  } catch {
    console.error(`${name} is missing; install it (Debian: apt-get install ${name})`)
    process.exit(1)
  }
}

async function packages(): Promise<void> {
  // better-sqlite3 may have to be compiled, against the headers of the Node that is here.
  const node = Bun.which('node')
  const prefix = node && dirname(dirname(realpathSync(node)))
  const headers = prefix && existsSync(join(prefix, 'include/node/node.h'))
  await run({
    argv: [process.execPath, 'install', '--frozen-lockfile'],
    cwd: root,
    ...(headers ? { env: { npm_config_nodedir: prefix } } : {}),
  })
}

export async function setUp(needs: { peers?: boolean; strace?: boolean } = {}): Promise<void> {
  if (process.platform !== 'linux') {
    console.error('the benchmarks run on Linux only')
    process.exit(1)
  }
  await program('wrk')
  if (needs.strace) await program('strace')
  if (needs.peers) {
    await packages()
    await buildAxumSqlite()
    await buildPocketbase()
  }
  await buildPlantstore()
}
