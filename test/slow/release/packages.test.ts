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
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { root as repository, startDaemon } from '../../harness/daemon'
import { ownFolder } from '../../harness/own-folder'
import { run } from '../../harness/process'
import { executable, has, released, sh, version } from './lab'
import { boot, canBoot, chroot, makeDebian } from './machine'

const hasTools =
  process.arch === 'x64' &&
  (await has('debootstrap', 'dpkg-deb', 'unshare', 'nsenter', 'curl', 'mount'))
const hasLintian = hasTools && (await has('lintian'))
const isBootable = hasTools && (await canBoot())
if (hasTools && !isBootable) console.log('skipped: no namespaces or control groups for systemd')

const folder = ownFolder('/var/tmp')
// It makes a Debian and an executable, beside other tests.
setDefaultTimeout(900_000)
const older = folder.file('older.deb')
const newer = released(`plantstore_${version}_amd64.deb`)
const next = folder.file('next.deb')
const data = 'var/lib/plantstore/plants.db'
const hosting = readFileSync(join(repository, 'docs/hosting.md'), 'utf8')
const operating = readFileSync(join(repository, 'docs/operating.md'), 'utf8')
const configuration = readFileSync(join(repository, 'docs/configuration.md'), 'utf8')
const settings = 'etc/plantstore/plantstore.env'
const forward = `ExecStart=/usr/bin/plantstore forward \${WEBHOOK_URL} --secret-file /etc/plantstore/forward-%i.secret`

/** Makes a package of another version from that of the release, of which `change` changes the files. */
async function makeOther(other: string, outfile: string, change: (tree: string) => void) {
  const tree = folder.file(`tree-${other}`)
  await sh(['dpkg-deb', '--raw-extract', newer, tree])
  const control = join(tree, 'DEBIAN/control')
  const text = readFileSync(control, 'utf8')
  writeFileSync(control, text.replace(/^Version: .*/m, `Version: ${other}`))
  change(tree)
  // Packed by xz, each would take half a minute.
  const build = ['dpkg-deb', '--root-owner-group', '-Znone', '--build', tree, outfile]
  await sh(build, { SOURCE_DATE_EPOCH: '0' })
}

// A later release: the schema of 1.0.0 is the only one so far.
const makeNext = () => makeOther(`${version}+next`, next, () => {})

// As an earlier release would be: a lower version, and the settings as a conffile.
const makeOlder = () =>
  makeOther(`${version}~older`, older, (tree) => {
    mkdirSync(join(tree, 'etc/plantstore'), { recursive: true })
    writeFileSync(join(tree, settings), '# Settings of an older plantstore.\n', { mode: 0o600 })
    writeFileSync(join(tree, 'DEBIAN/conffiles'), `/${settings}\n`)
  })

beforeAll(async () => {
  if (hasTools) await Promise.all([makeDebian(folder.file('debian')), makeOlder(), makeNext()])
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
  // Of files from 1970, without the executable, which lintian reads for a quarter of a minute.
  const old = folder.file('old.deb')
  await makeOther(version, old, (tree) => rmSync(join(tree, 'usr/bin/plantstore')))
  expect((await run([...lintian, old])).out).toContain(
    'E: plantstore: package-contains-ancient-file',
  )
})

test.skipIf(!hasTools)(
  'in a chroot, the package installs, upgrades and removes; settings and plants are kept',
  async () => {
    const root = await machine('chroot')
    const inside = chroot(root)
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

test.skipIf(!hasTools)(
  'in a chroot, the commands of docs/operating.md work as pasted, for an upgrade and a downgrade too',
  async () => {
    const root = await machine('operating')
    const inside = chroot(root)
    const plantstore = (command: string) =>
      inside('sh', '-c', `cd / && sudo -u plantstore plantstore ${command} --database /${data}`)
    // In a folder that only root can read, where no systemd runs.
    const paste = (commands: string) =>
      inside('sh', '-ec', `cd /root; ${commands.replace(/^sudo systemctl .*\n/gm, '')}`)
    const [everyday = '', downgrade = ''] = [...operating.matchAll(/^```sh\n(.*?)^```/gms)].map(
      ([, block]) => block,
    )
    // Otherwise sudo complains.
    writeFileSync(join(root, 'etc/hosts'), `127.0.0.1 localhost ${hostname()}\n`)
    writeFileSync(join(root, 'etc/apt/apt.conf.d/yes'), 'APT::Get::Assume-Yes "true";\n')
    copyFileSync(newer, join(root, 'root/plantstore_OLD_amd64.deb'))
    copyFileSync(next, join(root, 'root/plantstore_NEW_amd64.deb'))
    await inside('dpkg', '-i', '/root/plantstore_OLD_amd64.deb')
    const plants = [1, 2, 3].map((id) => `{"id":${id},"name":"Rose","tag":"shrub"}\n`).join('')
    writeFileSync(join(root, 'tmp/plants.ndjson'), plants, { mode: 0o644 })
    await plantstore('import /tmp/plants.ndjson')
    await plantstore('token create laptop')

    expect(await paste(everyday)).toContain('restored 3 plants')
    expect(await inside('dpkg-query', '-W', 'plantstore')).toContain('+next\n')

    await using daemon = await startDaemon({
      program: [executable('x64')],
      database: join(root, data),
      args: ['--keep-changes', '1d'],
    })
    await daemon.fetch('/plants/1', { method: 'PUT', json: { name: 'Dog rose', tag: 'shrub' } })
    await daemon.fetch('/plants/2', { method: 'DELETE' })
    await daemon.fetch('/plants/3', { method: 'PATCH', json: { tag: null } })
    await daemon.fetch('/plants', { json: { id: 4, name: 'Fern' } })
    await daemon.stop()
    await plantstore('token revoke laptop')
    await plantstore('token create phone')
    const [, deleted = ''] = /`plantstore (changes \| grep '.*')`/.exec(operating) ?? []
    expect(await plantstore(deleted.replace(' |', ` --database /${data} |`).concat(' #'))).toMatch(
      /^[^\n]*"id":2,[^\n]*\n$/,
    )

    const printed = await paste(downgrade)
    expect(await inside('dpkg-query', '-W', 'plantstore')).toBe(`plantstore\t${version}\n`)
    expect(await plantstore('export -')).toContain(
      [
        '{"id":1,"name":"Dog rose","tag":"shrub"}',
        '{"id":2,"name":"Rose","tag":"shrub"}',
        '{"id":3,"name":"Rose"}',
        '{"id":4,"name":"Fern"}\n',
      ].join('\n'),
    )
    const [, previous = 'none'] = /previous database kept as (.*)/.exec(printed) ?? []
    expect(existsSync(join(root, previous))).toBeTrue()
    expect(await plantstore('check')).toStartWith('ok: 4 plants')
    expect(await plantstore('token list')).toMatch(/^laptop .* revoked .*\nphone .* valid$/m)
  },
)

test.skipIf(!hasTools)(
  'in a chroot, only their owner can read the secrets and keys of docs/hosting.md',
  async () => {
    const root = await machine('secrets')
    const inside = chroot(root)
    await inside('dpkg', '-i', '/root/newer.deb')
    const modeOf = (path: string) => statSync(join(root, path)).mode & 0o777

    const [block = ''] = /^key=\$\(openssl.*?(?=^```)/ms.exec(hosting) ?? []
    // Those that edit and start are left out. Secret files are looked at after each command.
    const commands = block.split('\n').filter((line) => line.includes('install'))
    for (const command of commands) {
      const [path = 'none'] = /\/etc\/plantstore\/forward\S+/.exec(command) ?? []
      await inside('sh', '-ec', `umask 022; ${command}`)
      expect([path, modeOf(path)]).toEqual([path, 0o600])
    }
    expect(readFileSync(join(root, 'etc/plantstore/forward-orders.secret'), 'utf8')).toMatch(
      /^whsec_[\w+/]{43}=\n$/,
    )

    const hook = readFileSync(join(repository, 'deploy/certbot-hook'), 'utf8')
    const [, lineage = ''] = /RENEWED_LINEAGE=(\S+)/.exec(hook) ?? []
    const [, file = ''] = /^# (\/etc\/\S+),/m.exec(hook) ?? []
    mkdirSync(join(root, lineage), { recursive: true, mode: 0o700 })
    mkdirSync(join(root, dirname(file)), { recursive: true })
    for (const name of ['fullchain', 'privkey']) {
      writeFileSync(join(root, lineage, `${name}.pem`), name, { mode: 0o600 })
    }
    // No systemd runs here.
    writeFileSync(join(root, file), hook.replace('systemctl restart', 'echo restart'), {
      mode: 0o755,
    })
    const renew = (path: string) => inside('env', `RENEWED_LINEAGE=${path}`, file)
    expect(await renew('/etc/letsencrypt/live/other.example.org')).toBe('')
    expect(await renew(lineage)).toBe('restart plantstore\n')
    for (const name of ['fullchain', 'privkey']) {
      const copy = `/etc/plantstore/${name}.pem`
      expect(await inside('runuser', '-u', 'plantstore', '--', 'cat', copy)).toBe(name)
      expect(modeOf(copy)).toBe(0o400)
    }
  },
)

test.skipIf(!isBootable)(
  'with systemd, the package starts the service in its sandbox, restarts it after a crash or an upgrade, webhooks too, and stops it when removed',
  async () => {
    const root = await machine('systemd')
    await using system = await boot(root)
    const isUp = async (port?: number) =>
      (await system.request('', '/health', undefined, port)).endsWith(' 200')
    const pid = () => system.property('MainPID')

    expect(await system.run('dpkg', '-i', '/root/older.deb')).toContain('the service runs')
    await system.until('the daemon is healthy', () => isUp())
    expect(await system.run('systemctl', 'is-enabled', 'plantstore')).toBe('enabled')
    const changeLog = await system.run('journalctl', '-u', 'plantstore', '-o', 'cat')
    const token = /pst_[\w-]{43}/.exec(changeLog)?.[0] ?? 'none'
    expect(await system.request(token, '/plants', '{"id":1,"name":"Rose"}')).toBe(
      '{"name":"Rose"} 200',
    )
    // As an administrator pastes it.
    const [, hint = 'none'] = /^to make another token: (.*)$/m.exec(changeLog) ?? []
    const second = /pst_[\w-]{43}/.exec(await system.run('sh', '-c', hint))?.[0] ?? 'none'
    expect(await system.request(second, '/plants/1')).toBe('{"id":1,"name":"Rose"} 200')
    const [, withSettings = 'none'] = /\nsudo (systemd-run [^`]+)/.exec(configuration) ?? []
    expect(await system.run('sh', '-c', withSettings)).toContain('laptop')
    const status = await system.run('cat', `/proc/${await pid()}/status`)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(status).toMatch(/^CapBnd:\t0+$/m)
    expect(status).not.toMatch(/^Uid:\t0/m)

    const first = await pid()
    await system.run('systemctl', 'reload', 'plantstore')
    expect([await system.property('ActiveState'), await pid()]).toEqual(['active', first])

    await system.run('systemctl', 'kill', '--signal=KILL', 'plantstore')
    await system.until('it restarted', async () => (await pid()) !== first && (await isUp()))
    expect(await system.request(token, '/plants/1')).toBe('{"id":1,"name":"Rose"} 200')

    const webhooks = 'plantstore-forward@orders'
    appendFileSync(join(root, settings), 'PLANTSTORE_KEEP_CHANGES=1d\n')
    await system.run('systemctl', 'restart', 'plantstore')
    const receiver = ['WEBHOOK_URL=http://127.0.0.1:9', 'PLANTSTORE_URL=http://127.0.0.1:3000']
    const lines = [...receiver, `PLANTSTORE_TOKEN=${token}`].join('\n')
    writeFileSync(join(root, 'etc/plantstore/forward-orders.env'), lines)
    writeFileSync(join(root, 'etc/plantstore/forward-orders.secret'), `whsec_${btoa(token)}`)
    // Credentials need a mount that namespaces refuse.
    const withoutCredentials = `[Service]\nLoadCredential=\nExecStart=\n${forward}\n`
    const dropIns = join(root, `etc/systemd/system/${webhooks}.service.d`)
    mkdirSync(dropIns)
    writeFileSync(join(dropIns, 'secret.conf'), withoutCredentials)
    await system.run('systemctl', 'daemon-reload')
    await system.run('systemctl', 'enable', '--now', webhooks)
    await system.until('the daemon is healthy', () => isUp())
    const program = async (of: string) => {
      const main = await system.property('MainPID', of)
      return await system.run('sh', '-c', `readlink /proc/${main}/exe || echo none`)
    }
    await system.until(
      'webhooks run',
      async () => (await program(webhooks)) === '/usr/bin/plantstore',
    )

    const restarted = await pid()
    await system.run('dpkg', '-i', '/root/newer.deb')
    await system.until(
      'the new one is healthy',
      async () => (await pid()) !== restarted && (await isUp()),
    )
    expect(await system.request(token, '/plants/1')).toBe('{"id":1,"name":"Rose"} 200')
    for (const unit of ['plantstore', webhooks]) {
      const isNew = async () => (await program(unit)) === '/usr/bin/plantstore'
      await system.until(`${unit} runs the new executable`, isNew)
    }

    appendFileSync(join(root, settings), 'PLANTSTORE_PORT=none\n')
    await system.run('systemctl', 'restart', 'plantstore')
    await system.until('it failed', async () => (await system.property('ActiveState')) === 'failed')
    expect(await system.property('ExecMainStatus')).toBe('2')
    const reinstalled = await system.run('dpkg', '-i', '/root/newer.deb')
    expect(reinstalled).toContain('does not run')
    expect(reinstalled).toContain('PLANTSTORE_PORT must be a whole number')
    // This one ends with 1, and is started again each second.
    await system.run('sed', '-i', '$s/.*/PLANTSTORE_HOST=203.0.113.1/', `/${settings}`)
    const again = await system.run('dpkg', '-i', '/root/newer.deb')
    expect(again).toContain('does not run')
    expect(again).toContain('not an address of this machine')
    await system.run('systemctl', 'disable', '--now', 'plantstore')
    expect(await system.run('dpkg', '-i', '/root/newer.deb')).toContain('is disabled')
    await system.run('systemctl', 'enable', 'plantstore')
    await system.run(
      'sed',
      '-i',
      '$s/.*/PLANTSTORE_BACKUP_FOLDER=\\/srv\\/backups/',
      `/${settings}`,
    )
    await system.run('install', '-d', '-o', 'plantstore', '/srv/backups')
    await system.run('systemctl', 'restart', 'plantstore')
    await system.until('it failed', async () => (await system.property('ActiveState')) === 'failed')
    expect(await system.property('ExecMainStatus')).toBe('2')
    expect(await system.run('journalctl', '-u', 'plantstore', '-n', '5', '-o', 'cat')).toContain(
      'ReadWritePaths=/srv/backups',
    )

    const [, dropIn = ''] = /```ini\n(.*?)```/s.exec(hosting) ?? []
    const folderOfUnit = join(root, 'etc/systemd/system/plantstore.service.d')
    mkdirSync(folderOfUnit)
    writeFileSync(join(folderOfUnit, 'override.conf'), dropIn)
    appendFileSync(join(root, settings), 'PLANTSTORE_PORT=443\n')
    await system.run('systemctl', 'daemon-reload')
    await system.run('systemctl', 'restart', 'plantstore')
    await system.until('it serves on port 443', () => isUp(443))
    await system.until('a backup', async () => (await system.run('ls', '/srv/backups')) !== '')
    rmSync(folderOfUnit, { recursive: true })
    await system.run('systemctl', 'daemon-reload')

    await system.run('sed', '-i', '-e', '$d', `/${settings}`)
    await system.run('sed', '-i', '-e', '$d', `/${settings}`)
    await system.run('systemctl', 'restart', 'plantstore')
    await system.until('it is healthy again', () => isUp())

    await system.run('dpkg', '-r', 'plantstore')
    expect([await pid(), await system.request('', '/health')]).toEqual(['0', '000'])
    expect(await program(webhooks)).toBe('none')
    expect(existsSync(join(root, data))).toBeTrue()
    await system.run('dpkg', '-i', '/root/newer.deb')
    await system.until('it is healthy', () => isUp())
    expect(await system.request(token, '/plants/1')).toBe('{"id":1,"name":"Rose"} 200')
  },
)
