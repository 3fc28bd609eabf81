// bun test/harness/install-postgres.ts : installs what `bun run test:postgres` needs, as far as this machine allows.
// As root on Debian: postgresql-15, without starting a server of its own, and PgBouncer. Anywhere: PostgreSQL 18 by npm.
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './daemon'
import { installations, isInstalled } from './postgres'
import { run } from './process'

// Debian starts the daemons that it installs, unless this file says no.
const POLICY = '/usr/sbin/policy-rc.d'
const packages = ['postgresql-15', 'pgbouncer', 'openssl']

async function installDebian(): Promise<void> {
  if (installations.slice(0, 1).every(isInstalled) && Bun.which('pgbouncer')) return
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    console.error(`not root on Debian: without ${packages.join(', ')}`)
    return
  }
  const isOurs = !existsSync(POLICY)
  if (isOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n')
  if (isOurs) chmodSync(POLICY, 0o755)
  try {
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    await run(['apt-get', 'update', '-qq'], { env })
    const install = ['apt-get', 'install', '-qq', '--no-install-recommends', ...packages]
    const { err, code } = await run(install, { env })
    if (code !== 0) console.error(`cannot install ${packages.join(', ')}: ${err}`)
  } finally {
    if (isOurs) rmSync(POLICY)
  }
}

await installDebian()
const install = [process.execPath, 'install', '--frozen-lockfile', '--silent']
const { err, code } = await run(install, { cwd: join(root, 'test/postgres') })
if (code !== 0) console.error(`cannot install PostgreSQL 18: ${err}`)
