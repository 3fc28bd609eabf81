// bun tools/postgres/install.ts : installs PostgreSQL for tests and benchmarks, if the machine allows it.
// As root on Debian: postgresql-15, without starting a server of its own, and PgBouncer. Anywhere: PostgreSQL 18 by
// npm.
import { $ } from 'bun'
import { INSTALLATIONS, isInstalled } from './server'

// Debian starts installed daemons unless this file forbids it.
const POLICY = '/usr/sbin/policy-rc.d'
const PACKAGES = 'postgresql-15 pgbouncer openssl'
const SCRIPT = `test -e ${POLICY} || { trap 'rm ${POLICY}' EXIT; install /dev/stdin ${POLICY} <<< $'#!/bin/sh\\nexit 101'; }
  apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends ${PACKAGES}`

async function attempt(what: string, command: $.ShellPromise): Promise<void> {
  const { exitCode, stderr } = await command.quiet().nothrow()
  if (exitCode !== 0) console.error(`without ${what}: ${stderr}`)
}

const hasDebian = INSTALLATIONS.slice(0, 1).every(isInstalled) && Bun.which('pgbouncer')
if (!hasDebian) await attempt(PACKAGES, $`bash -c ${SCRIPT}`)
const install = $`${process.execPath} install --frozen-lockfile --no-summary`
await attempt('PostgreSQL 18', install.cwd(import.meta.dir))
