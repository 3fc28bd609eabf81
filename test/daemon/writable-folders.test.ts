// Folders on a read-only file system, as in the sandbox of the systemd unit.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { storeFolder } from '../harness/commands'
import { PATIENCE_MS, runProgram, temporaryFolder } from '../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const inNamespace = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c']
const canMount = Bun.spawnSync([...inNamespace, 'mount -t tmpfs -o ro tmpfs /mnt']).exitCode === 0

test.skipIf(!canMount).each([
  // A wrong setting: a service must not be restarted.
  ['a folder for backups', ['--backup-folder', 'FOLDER'], 'ReadWritePaths=/', 2],
  ['a unix socket', ['--unix', 'FOLDER/plants.sock'], 'ReadWritePaths=/', 2],
  // The file system may be repaired, and a start then succeeds.
  [
    'a database',
    ['--database', 'FOLDER/plants.db', '--port', '0'],
    'check permissions, ReadWritePaths= and ',
    1,
  ],
])('serve refuses %s on a read-only file system in one line', async (_, args, reason, code) => {
  using folder = temporaryFolder()
  using readOnly = temporaryFolder()
  const words = args.map((word) => word.replace('FOLDER', readOnly.path))
  const under = [...inNamespace, 'mount -t tmpfs -o ro tmpfs "$0" && exec "$@"', readOnly.path]

  const result = await runProgram(['serve', ...words], { cwd: folder.path, under })

  expect(result.err).toMatch(/^plantstore: cannot .+\n$/)
  expect(result.err).toContain(readOnly.path)
  expect(result.err).toContain(reason)
  expect(result.code).toBe(code)
})

test.skipIf(!canMount)('--read-only serves a copy on a read-only file system', async () => {
  using folder = storeFolder()
  await folder.run(['import', '-', '--format', 'ndjson'], {
    stdin: '{"id":1,"name":"Rose"}',
  })
  const under = [...inNamespace, 'mount --bind -o ro "$0" "$0" && exec "$@"', folder.path]
  await using daemon = await folder.serve({ args: ['--read-only'], under, cwd: '/' })

  expect(await (await daemon.fetch('/plants/1')).json()).toEqual({ id: 1, name: 'Rose' })
})
