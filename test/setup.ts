// Runs before the tests. On a fresh clone it installs the packages, so that `bun test` is enough.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')

if (!existsSync(join(root, 'node_modules/elysia'))) {
  if (process.env.BUN_TEST_WORKER_ID) throw new Error('packages are missing; run: bun install')
  const installed = run(['install', '--frozen-lockfile'], root)
  // This process has cached that there are no packages; only a new one finds them.
  process.exit(installed || run(ownArguments(), process.cwd()))
}

// The daemons under test are on this machine: requests to them must not go through a proxy.
process.env.NO_PROXY = [process.env.NO_PROXY, '127.0.0.1', 'localhost', '::1']
  .filter(Boolean)
  .join()

/** Runs Bun to its end; returns its exit code. */
function run(args: readonly string[], cwd: string): number {
  const command = [process.execPath, ...args]
  return Bun.spawnSync(command, { cwd, stdout: 'inherit', stderr: 'inherit' }).exitCode ?? 1
}

/** The arguments of this `bun test`. `process.argv` lacks them; without /proc, all tests are run. */
function ownArguments(): string[] {
  const commandLine = '/proc/self/cmdline'
  if (!existsSync(commandLine)) return ['test']
  return readFileSync(commandLine, 'utf8').split('\0').slice(1, -1)
}
