// The requirements of the image and compose.yaml on the executable.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, temporaryFolder } from '../../harness/daemon'
import { executable, expectToSurviveKill, has, sh, version } from './lab'

setDefaultTimeout(300_000)

const hasMount = process.arch === 'x64' && (await has('unshare', 'mount', 'setpriv'))
const hasCompose = await has('docker-compose')

test.skipIf(!hasMount)(
  'with a read-only root, the image writes only to the folder of its database',
  async () => {
    using folder = temporaryFolder()
    const data = folder.file('data')
    mkdirSync(data)
    chownSync(data, 65532, 65532)
    chownSync(folder.path, 65532, 65532)
    const bind = 'mount --bind "$0/.." "$0/.." && mount --bind "$0" "$0"'
    const mounts = `${bind} && mount -o remount,bind,ro "$0/.." && mount -o remount,bind,ro /`
    const user = 'setpriv --reuid=65532 --regid=65532 --clear-groups --bounding-set=-all'
    const enter = (command: string) => [
      ...['unshare', '--mount', 'sh', '-c'],
      `${mounts} && exec ${user} --no-new-privs ${command}`,
      data,
    ]
    await sh(enter('touch "$0/file"'))
    await expect(sh(enter('touch "$0/../file"'))).rejects.toThrow('Read-only file system')
    await expectToSurviveKill([...enter(`${executable('x64')} "$@"`)], join(data, 'plants.db'))
  },
)

test.skipIf(!hasCompose).each(['compose.yaml', 'compose.scaling.yaml'])(
  '%s is valid',
  async (name) => {
    using folder = temporaryFolder()
    for (const secret of ['plantstore-token', 'database-password']) {
      writeFileSync(folder.file(secret), '')
    }
    writeFileSync(folder.file(name), readFileSync(join(root, 'deploy', name), 'utf8'))
    await sh(['docker-compose', '-f', folder.file(name), 'config', '--quiet'])
  },
)

test('the image is labelled with the version of package.json', () => {
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toContain(`\nARG VERSION=${version}\n`)
})
