// Runs before the tests: on a fresh clone it installs what they need, so that `bun test` alone is enough.
import { existsSync } from 'node:fs'

const root = `${import.meta.dir}/..`
if (!existsSync(`${root}/node_modules/elysia`)) {
  const { exitCode } = Bun.spawnSync([process.execPath, 'install', '--frozen-lockfile'], {
    cwd: root,
    stdout: 'inherit',
    stderr: 'inherit',
  })
  if (exitCode !== 0) throw new Error('bun install failed')
}

// The daemons of the tests are on this machine: a proxy, which packages may come by, is not to be asked for them.
process.env.NO_PROXY = [process.env.NO_PROXY, '127.0.0.1', 'localhost', '::1']
  .filter(Boolean)
  .join()
