// bun tools/postgres/install.ts : installs PostgreSQL for tests and benchmarks, if the machine allows it.
// As root on Debian: postgresql-15, without starting a server of its own, and PgBouncer. Anywhere: PostgreSQL 18 by
// npm.
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { INSTALLATIONS, isInstalled } from './server'

// Debian starts installed daemons unless this file forbids it.
const POLICY = '/usr/sbin/policy-rc.d'
const PACKAGES = ['postgresql-15', 'pgbouncer', 'openssl']

async function run(
  argv: readonly string[],
  cwd: string,
  extraEnvironment: Record<string, string> = {},
) {
  const env = { ...process.env, ...extraEnvironment }
  const child = Bun.spawn([...argv], { cwd, env, stdout: 'ignore', stderr: 'pipe' })
  return { code: await child.exited, err: await new Response(child.stderr).text() }
}

async function installDebian(): Promise<void> {
  if (INSTALLATIONS.slice(0, 1).every(isInstalled) && Bun.which('pgbouncer')) return
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    console.error(`not root on Debian: without ${PACKAGES.join(', ')}`)
    return
  }
  const isOurs = !existsSync(POLICY)
  if (isOurs) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n')
  if (isOurs) chmodSync(POLICY, 0o755)
  try {
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    await run(['apt-get', 'update', '-qq'], '/', env)
    const install = ['apt-get', 'install', '-qq', '--no-install-recommends', ...PACKAGES]
    const { err, code } = await run(install, '/', env)
    if (code !== 0) console.error(`cannot install ${PACKAGES.join(', ')}: ${err}`)
  } finally {
    if (isOurs) rmSync(POLICY)
  }
}

await installDebian()
const install = [process.execPath, 'install', '--frozen-lockfile', '--no-summary']
const { err, code } = await run(install, import.meta.dir)
if (code !== 0) console.error(`cannot install PostgreSQL 18: ${err}`)
