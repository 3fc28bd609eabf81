// The Debian package: in a chroot without systemd, and on a machine that systemd runs.
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { makeDeb } from '../../../deploy/deb'
import { root as repository } from '../../harness/daemon'
import { ownFolder } from '../../harness/own-folder'
import { run } from '../../harness/process'
import { executable, has, released, sh, version } from './lab'
import { boot, canBoot, makeDebian } from './machine'

const hasTools =
  process.arch === 'x64' &&
  (await has('debootstrap', 'dpkg-deb', 'unshare', 'nsenter', 'curl', 'mount'))
const hasLintian = hasTools && (await has('lintian'))
const isBootable = hasTools && (await canBoot())
if (hasTools && !isBootable) console.log('skipped: no namespaces or control groups for systemd')

const folder = ownFolder('/var/tmp')
setDefaultTimeout(300_000)
const older = folder.file('older.deb')
const newer = released(`plantstore_${version}_amd64.deb`)
const data = 'var/lib/plantstore/plants.db'
const hosting = readFileSync(join(repository, 'docs/hosting.md'), 'utf8')
const configuration = readFileSync(join(repository, 'docs/configuration.md'), 'utf8')
const settings = 'etc/plantstore/plantstore.env'
const forward = `ExecStart=/usr/bin/plantstore forward \${WEBHOOK_URL} --secret-file /etc/plantstore/forward-%i.secret`

// As an earlier release would be: a lower version, another file, and the settings as a conffile.
async function makeOlder(): Promise<void> {
  const plain = folder.file('plain.deb')
  await makeDeb({
    version: `${version}~older`,
    architecture: 'amd64',
    description: 'An older plantstore',
    maintainer: 'Test <test@plantstore.test>',
    homepage: null,
    texts: {},
    executable: executable('x64'),
    outfile: plain,
    epoch: 0,
  })
  const tree = folder.file('tree')
  await sh(['dpkg-deb', '--raw-extract', plain, tree])
  mkdirSync(join(tree, 'etc/plantstore'), { recursive: true })
  writeFileSync(join(tree, settings), '# Settings of an older plantstore.\n', { mode: 0o600 })
  writeFileSync(join(tree, 'DEBIAN/conffiles'), `/${settings}\n`)
  await sh(['dpkg-deb', '--root-owner-group', '-Znone', '--build', tree, older])
}

beforeAll(async () => {
  if (hasTools) await Promise.all([makeDebian(folder.file('debian')), makeOlder()])
})

/** A fresh machine, with both packages in its /root. */
async function machine(name: string): Promise<string> {
  const root = folder.file(name)
  await sh(['cp', '-a', folder.file('debian'), root])
  copyFileSync(older, join(root, 'root/older.deb'))
  copyFileSync(newer, join(root, 'root/newer.deb'))
  return root
}

test.skipIf(!hasLintian)('lintian finds no error and no warning', async () => {
  const lintian = ['lintian', '--allow-root', '--profile', 'debian', '--fail-on', 'error,warning']
  expect((await run([...lintian, newer])).out).toBe('')
  expect((await run([...lintian, older])).out).toContain(
    'E: plantstore: package-contains-ancient-file',
  )
})

test.skipIf(!hasTools)(
  'a chroot: installs, upgrades and removes; settings and plants are kept',
  async () => {
    const root = await machine('chroot')
    const inside = (...command: string[]) => {
      const mounts = 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev"'
      return sh([
        'unshare',
        '--mount',
        'sh',
        '-c',
        `${mounts} && exec chroot "$0" "$@"`,
        root,
        ...command,
      ])
    }
    const plantstore = (command: string) =>
      inside('runuser', '-u', 'plantstore', '--', 'sh', '-c', `${command} --database /${data}`)

    await inside('dpkg', '-i', '/root/older.deb')
    expect(existsSync(join(root, 'etc/systemd/system/multi-user.target.wants'))).toBeTrue()
    const { mode, uid } = statSync(join(root, 'var/lib/plantstore'))
    expect([mode & 0o777, uid === 0]).toEqual([0o700, false])
    await plantstore('echo \'{"id":1,"name":"Rose"}\' | plantstore import - --format ndjson')
    appendFileSync(join(root, settings), 'PLANTSTORE_PORT=3001\n')

    // Standard input is no terminal: a question would fail.
    await inside('apt-get', 'install', '--yes', '/root/newer.deb')
    expect(await inside('dpkg-query', '-W', 'plantstore')).toBe(`plantstore\t${version}\n`)
    expect(await plantstore('plantstore export -')).toContain('{"id":1,"name":"Rose"}\n')
    expect(readFileSync(join(root, settings), 'utf8')).toBe(
      '# Settings of an older plantstore.\nPLANTSTORE_PORT=3001\n',
    )
    expect(readdirSync(join(root, 'etc/plantstore'))).toEqual(['plantstore.env'])

    const page = gunzipSync(
      readFileSync(join(root, 'usr/share/man/man1/plantstore.1.gz')),
    ).toString()
    expect(page).toMatch(/^\.TH PLANTSTORE 1 "\d{4}-\d\d-\d\d" /)
    for (const file of ['licenses.txt.gz', 'cdx.json.gz', 'changelog.gz', 'docs/scaling.md']) {
      expect(existsSync(join(root, 'usr/share/doc/plantstore', file))).toBeTrue()
    }
    expect(await inside('systemd-analyze', 'verify', 'plantstore.service')).toBe('')

    await inside('dpkg', '-r', 'plantstore')
    expect(existsSync(join(root, 'usr/bin/plantstore'))).toBeFalse()
    expect(existsSync(join(root, settings))).toBeTrue()
    expect(await inside('dpkg', '-P', 'plantstore')).toContain('/var/lib/plantstore is kept')
    expect(existsSync(join(root, 'etc/plantstore'))).toBeFalse()
    expect(
      existsSync(join(root, 'etc/systemd/system/multi-user.target.wants/plantstore.service')),
    ).toBeFalse()
    expect(statSync(join(root, data)).uid).toBe(uid)

    await inside('dpkg', '-i', '/root/newer.deb')
    expect(await plantstore('plantstore export -')).toContain('{"id":1,"name":"Rose"}\n')
    expect(statSync(join(root, settings)).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(root, settings), 'utf8')).toBe(
      readFileSync(join(repository, 'deploy/plantstore.env'), 'utf8'),
    )
    writeFileSync(join(root, settings), 'PLANTSTORE_PORT=3002\n')
    await inside('apt-get', 'install', '--yes', '--reinstall', '/root/newer.deb')
    expect(readFileSync(join(root, settings), 'utf8')).toBe('PLANTSTORE_PORT=3002\n')
    await inside('dpkg', '-P', 'plantstore')
    expect(existsSync(join(root, 'etc/plantstore'))).toBeFalse()
  },
)

test.skipIf(!isBootable)(
  'systemd: starts it in its sandbox, restarts what crashed and what was upgraded, webhooks too, stops what is removed',
  async () => {
    const root = await machine('systemd')
    await using it = await boot(root)
    const isUp = async (port?: number) =>
      (await it.request('', '/health', undefined, port)).endsWith(' 200')
    const pid = () => it.property('MainPID')

    await it.run('dpkg', '-i', '/root/older.deb')
    await it.until('the daemon is healthy', () => isUp())
    expect(await it.run('systemctl', 'is-enabled', 'plantstore')).toBe('enabled')
    const changeLog = await it.run('journalctl', '-u', 'plantstore', '-o', 'cat')
    const token = /pst_[\w-]{43}/.exec(changeLog)?.[0] ?? 'none'
    expect(await it.request(token, '/plants', '{"id":1,"name":"Rose"}')).toBe('{"name":"Rose"} 200')
    // As an administrator pastes it.
    const [, hint = 'none'] = /^to make another token: (.*)$/m.exec(changeLog) ?? []
    const second = /pst_[\w-]{43}/.exec(await it.run('sh', '-c', hint))?.[0] ?? 'none'
    expect(await it.request(second, '/plants/1')).toBe('{"id":1,"name":"Rose"} 200')
    const [, withSettings = 'none'] = /\nsudo (systemd-run [^`]+)/.exec(configuration) ?? []
    expect(await it.run('sh', '-c', withSettings)).toContain('laptop')
    const status = await it.run('cat', `/proc/${await pid()}/status`)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(status).toMatch(/^CapBnd:\t0+$/m)
    expect(status).not.toMatch(/^Uid:\t0/m)

    const first = await pid()
    await it.run('systemctl', 'reload', 'plantstore')
    expect([await it.property('ActiveState'), await pid()]).toEqual(['active', first])

    await it.run('systemctl', 'kill', '--signal=KILL', 'plantstore')
    await it.until('it restarted', async () => (await pid()) !== first && (await isUp()))
    expect(await it.request(token, '/plants/1')).toBe('{"id":1,"name":"Rose"} 200')

    const webhooks = 'plantstore-forward@orders'
    appendFileSync(join(root, settings), 'PLANTSTORE_KEEP_CHANGES=1d\n')
    await it.run('systemctl', 'restart', 'plantstore')
    const receiver = ['WEBHOOK_URL=http://127.0.0.1:9', 'PLANTSTORE_URL=http://127.0.0.1:3000']
    const lines = [...receiver, `PLANTSTORE_TOKEN=${token}`].join('\n')
    writeFileSync(join(root, 'etc/plantstore/forward-orders.env'), lines)
    writeFileSync(join(root, 'etc/plantstore/forward-orders.secret'), `whsec_${btoa(token)}`)
    // Credentials need a mount that namespaces refuse.
    const withoutCredentials = `[Service]\nLoadCredential=\nExecStart=\n${forward}\n`
    const dropIns = join(root, `etc/systemd/system/${webhooks}.service.d`)
    mkdirSync(dropIns)
    writeFileSync(join(dropIns, 'secret.conf'), withoutCredentials)
    await it.run('systemctl', 'daemon-reload')
    await it.run('systemctl', 'enable', '--now', webhooks)
    await it.until('the daemon is healthy', () => isUp())
    const program = async (of: string) => {
      const main = await it.property('MainPID', of)
      return await it.run('sh', '-c', `readlink /proc/${main}/exe || echo none`)
    }
    await it.until('webhooks run', async () => (await program(webhooks)) === '/usr/bin/plantstore')

    const restarted = await pid()
    await it.run('dpkg', '-i', '/root/newer.deb')
    await it.until(
      'the new one is healthy',
      async () => (await pid()) !== restarted && (await isUp()),
    )
    expect(await it.request(token, '/plants/1')).toBe('{"id":1,"name":"Rose"} 200')
    for (const unit of ['plantstore', webhooks]) {
      const isNew = async () => (await program(unit)) === '/usr/bin/plantstore'
      await it.until(`${unit} runs the new executable`, isNew)
    }

    appendFileSync(join(root, settings), 'PLANTSTORE_PORT=none\n')
    await it.run('systemctl', 'restart', 'plantstore')
    await it.until('it failed', async () => (await it.property('ActiveState')) === 'failed')
    expect(await it.property('ExecMainStatus')).toBe('2')

    const [, dropIn = ''] = /```ini\n(.*?)```/s.exec(hosting) ?? []
    const folderOfUnit = join(root, 'etc/systemd/system/plantstore.service.d')
    mkdirSync(folderOfUnit)
    writeFileSync(join(folderOfUnit, 'override.conf'), dropIn)
    await it.run('install', '-d', '-o', 'plantstore', '/srv/backups')
    await it.run('sed', '-i', '$s/none/443/', `/${settings}`)
    await it.run('systemctl', 'daemon-reload')
    await it.run('systemctl', 'restart', 'plantstore')
    await it.until('it serves on port 443', () => isUp(443))
    rmSync(folderOfUnit, { recursive: true })
    await it.run('systemctl', 'daemon-reload')

    await it.run('sed', '-i', '$d', `/${settings}`)
    await it.run('systemctl', 'restart', 'plantstore')
    await it.until('it is healthy again', () => isUp())

    await it.run('dpkg', '-r', 'plantstore')
    expect([await pid(), await it.request('', '/health')]).toEqual(['0', '000'])
    expect(await program(webhooks)).toBe('none')
    expect(existsSync(join(root, data))).toBeTrue()
    await it.run('dpkg', '-i', '/root/newer.deb')
    await it.until('it is healthy', () => isUp())
    expect(await it.request(token, '/plants/1')).toBe('{"id":1,"name":"Rose"} 200')
  },
)
