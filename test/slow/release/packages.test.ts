// The packages: their files, in a chroot without systemd, and on a machine that systemd runs.
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { root as repository, startDaemon, temporaryFolder } from '../../harness/daemon'
import { ownFolder } from '../../harness/own-folder'
import { run } from '../../harness/process'
import { executable, has, released, sh, version } from './lab'
import { boot, canBoot, chroot, makeDebian } from './machine'

const hasTools =
  process.arch === 'x64' &&
  (await has('debootstrap', 'dpkg-deb', 'unshare', 'nsenter', 'curl', 'mount'))
const hasRpm = hasTools && (await has('rpm', 'bsdtar'))
const hasLintian = hasTools && (await has('lintian'))
const isBootable = hasTools && (await canBoot())
if (hasTools && !isBootable) console.log('skipped: no namespaces or control groups for systemd')

const folder = ownFolder('/var/tmp')
// It makes a Debian and an executable, beside other tests.
setDefaultTimeout(900_000)
const current = released(`plantstore_${version}_amd64.deb`)
const next = folder.file('next.deb')
const rpm = released(`plantstore-${version}-1.x86_64.rpm`)
const apk = released(`plantstore_${version}_x86_64.apk`)
const data = 'var/lib/plantstore/plants.db'
const hosting = readFileSync(join(repository, 'docs/hosting.md'), 'utf8')
const operating = readFileSync(join(repository, 'docs/operating.md'), 'utf8')
const configuration = readFileSync(join(repository, 'docs/configuration.md'), 'utf8')
const settings = 'etc/plantstore/plantstore.env'
const forward = `ExecStart=/usr/bin/plantstore forward \${WEBHOOK_URL} --secret-file /etc/plantstore/forward-%i.secret`

/** Makes a package of the release's files, which `change` changes. */
async function makeOther(outfile: string, change: (tree: string) => void) {
  const tree = `${outfile}.tree`
  await sh(['dpkg-deb', '--raw-extract', current, tree])
  change(tree)
  const build = ['dpkg-deb', '--root-owner-group', '-Znone', '--build', tree, outfile]
  await sh(build, { SOURCE_DATE_EPOCH: '0' })
}

// A later release: the schema of 1.0.0 is the only one so far.
const makeNext = () =>
  makeOther(next, (tree) => {
    const control = join(tree, 'DEBIAN/control')
    const text = readFileSync(control, 'utf8')
    writeFileSync(control, text.replace(/^Version: .*/m, '$&+next'))
  })

beforeAll(async () => {
  if (hasTools) await Promise.all([makeDebian(folder.file('debian')), makeNext()])
})

/** A fresh machine, with both packages in its /root. */
async function machine(name: string): Promise<string> {
  const root = folder.file(name)
  await sh(['cp', '-a', folder.file('debian'), root])
  copyFileSync(current, join(root, 'root/plantstore_OLD_amd64.deb'))
  copyFileSync(next, join(root, 'root/plantstore_NEW_amd64.deb'))
  return root
}

/** The files of a package, with their modes and the hashes of their contents. */
async function contentsOf(unpack: readonly string[]): Promise<string[]> {
  using to = temporaryFolder()
  await sh(['sh', '-c', 'cd "$0" && "$@"', to.path, ...unpack])
  const list = `find usr -type f -printf '%m ' -exec sha256sum '{}' ';' | sort -k 3`
  return (await sh(['sh', '-c', `cd ${to.path} && ${list}`])).trim().split('\n')
}

const ofDebian = /share\/doc\/plantstore\/changelog\.gz$|share\/lintian\//

test.skipIf(!hasRpm)('the RPM has the files of the Debian package', async () => {
  const files = await contentsOf(['dpkg-deb', '--extract', current, '.'])

  expect(files.filter((file) => ofDebian.test(file))).toHaveLength(2)
  for (const file of ['licenses.txt.gz', 'cdx.json.gz', 'docs/scaling.md'])
    expect(files.some((line) => line.endsWith(`/doc/plantstore/${file}`))).toBeTrue()
  expect(await contentsOf(['bsdtar', '-xf', rpm])).toEqual(
    files.filter((file) => !ofDebian.test(file)),
  )
})

test.skipIf(!hasRpm)('the package for Alpine has them, with an executable for musl', async () => {
  const isExecutable = (file: string) => file.endsWith('  usr/bin/plantstore')
  const files = await contentsOf(['bsdtar', '-xf', rpm])
  const ofAlpine = await contentsOf(['bsdtar', '-xf', apk])
  const musl = await sh(['sha256sum', executable('x64-musl')])
  const script = await sh(['bsdtar', '-xOf', apk, '.post-install'])

  expect(ofAlpine.find(isExecutable)).toStartWith(`755 ${musl.split(' ')[0]}`)
  expect(ofAlpine.filter((file) => !isExecutable(file))).toEqual(
    files.filter((file) => !isExecutable(file)),
  )
  expect(script).toBe(readFileSync(join(repository, 'deploy/package/postinst'), 'utf8'))
})

test.skipIf(!hasLintian)('lintian finds no error and no warning', async () => {
  const lintian = ['lintian', '--allow-root', '--profile', 'debian', '--fail-on', 'error,warning']
  expect((await run([...lintian, current])).out).toBe('')
  // Of files from 1970, without the executable, which lintian reads for a quarter of a minute.
  const old = folder.file('old.deb')
  await makeOther(old, (tree) => rmSync(join(tree, 'usr/bin/plantstore')))
  expect((await run([...lintian, old])).out).toContain(
    'E: plantstore: package-contains-ancient-file',
  )
})

const byDpkg = (root: string) => ({
  install: () => chroot(root)('dpkg', '-i', '/root/plantstore_OLD_amd64.deb'),
  // Standard input is no terminal: a question would fail.
  upgrade: () => chroot(root)('apt-get', 'install', '--yes', '/root/plantstore_NEW_amd64.deb'),
  remove: () => chroot(root)('dpkg', '-P', 'plantstore'),
  keepsSettings: false,
})

// Its dependencies are names of other distributions.
const byRpm = (root: string) => ({
  install: () => sh(['rpm', '--root', root, '--nodeps', '--install', rpm]),
  upgrade: () => sh(['rpm', '--root', root, '--nodeps', '--upgrade', '--force', rpm]),
  remove: () => sh(['rpm', '--root', root, '--erase', 'plantstore']),
  keepsSettings: true,
})

test.skipIf(!hasRpm).each([
  ['Debian package', byDpkg],
  ['RPM', byRpm],
])(
  'in a chroot, the %s installs, upgrades and removes; settings and plants are kept',
  async (name, by) => {
    const root = await machine(name)
    const inside = chroot(root)
    const plantstore = (command: string) =>
      inside('runuser', '-u', 'plantstore', '--', 'sh', '-c', `${command} --database /${data}`)
    const unit = join(root, 'etc/systemd/system/multi-user.target.wants/plantstore.service')
    const read = (path: string) => readFileSync(join(root, path), 'utf8')
    const { install, upgrade, remove, keepsSettings } = by(root)

    await install()
    const { mode, uid } = statSync(join(root, 'var/lib/plantstore'))
    expect([mode & 0o777, uid === 0]).toEqual([0o700, false])
    expect(statSync(join(root, settings)).mode & 0o777).toBe(0o600)
    expect(read(settings)).toBe(read('usr/share/plantstore/plantstore.env'))
    expect(lstatSync(unit).isSymbolicLink()).toBeTrue()
    await plantstore('echo \'{"id":1,"name":"Rose"}\' | plantstore import - --format ndjson')
    writeFileSync(join(root, settings), 'PLANTSTORE_PORT=3001\n')
    await inside('systemctl', 'disable', 'plantstore')

    await upgrade()
    expect(await plantstore('plantstore export -')).toContain('{"id":1,"name":"Rose"}\n')
    expect([read(settings), existsSync(unit)]).toEqual(['PLANTSTORE_PORT=3001\n', false])
    await inside('systemctl', 'enable', 'plantstore')

    expect(await remove()).toContain('/var/lib/plantstore is kept')
    for (const path of [unit, join(root, 'usr/bin/plantstore')])
      expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined()
    expect(existsSync(join(root, settings))).toBe(keepsSettings)
    expect(statSync(join(root, data)).uid).toBe(uid)
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
    await inside('dpkg', '-i', '/root/plantstore_OLD_amd64.deb')
    const plants = [1, 2, 3].map((id) => `{"id":${id},"name":"Rose","tag":"shrub"}\n`).join('')
    writeFileSync(join(root, 'tmp/plants.ndjson'), plants, { mode: 0o644 })
    await plantstore('import /tmp/plants.ndjson')
    await plantstore('token create laptop')

    expect(await paste(everyday)).toContain('exported 3 plants')
    await plantstore('backup /var/lib/plantstore/before-upgrade.db')
    await inside('apt-get', 'install', '/root/plantstore_NEW_amd64.deb')
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
    await inside('dpkg', '-i', '/root/plantstore_NEW_amd64.deb')
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

const WEBHOOKS = 'plantstore-forward@orders'
const ROSE = '{"id":1,"name":"Rose"} 200'

/** The service of a machine that systemd runs. */
function serviceOf(root: string, system: Awaited<ReturnType<typeof boot>>) {
  const pid = () => system.property('MainPID')
  const isUp = async (port?: number) =>
    (await system.request('', '/health', undefined, port)).endsWith(' 200')
  const configure = (...lines: string[]) =>
    writeFileSync(
      join(root, settings),
      ['PLANTSTORE_KEEP_CHANGES=1d', ...lines].map((line) => `${line}\n`).join(''),
    )
  return {
    pid,
    isUp,
    configure,
    untilUp: (port?: number) => system.until('the daemon is healthy', () => isUp(port)),
    async restartWith(...lines: string[]): Promise<void> {
      configure(...lines)
      await system.run('systemctl', 'daemon-reload')
      await system.run('systemctl', 'restart', 'plantstore')
    },
    async failedBySettings(): Promise<void> {
      const state = async () => (await system.property('ActiveState')) === 'failed'
      await system.until('it failed', state)
      expect(await system.property('ExecMainStatus')).toBe('2')
    },
    install: () => system.run('dpkg', '-i', '/root/plantstore_NEW_amd64.deb'),
    /** The executable that a unit runs. */
    async programOf(unit: string): Promise<string> {
      const main = await system.property('MainPID', unit)
      return await system.run('sh', '-c', `readlink /proc/${main}/exe || echo none`)
    },
    log: (...flags: string[]) =>
      system.run('journalctl', '-u', 'plantstore', '-o', 'cat', ...flags),
    system,
    root,
  }
}

type Service = ReturnType<typeof serviceOf>

/** Installs the package, and creates a plant; resolves to the token. */
async function installFirst({ system, untilUp, pid, log }: Service): Promise<string> {
  expect(await system.run('dpkg', '-i', '/root/plantstore_OLD_amd64.deb')).toContain(
    'the service runs',
  )
  await untilUp()
  expect(await system.run('systemctl', 'is-enabled', 'plantstore')).toBe('enabled')
  const printed = await log()
  const token = /pst_[\w-]{43}/.exec(printed)?.[0] ?? 'none'
  expect(await system.request(token, '/plants', '{"id":1,"name":"Rose"}')).toBe(
    '{"name":"Rose"} 200',
  )
  // As an administrator pastes it.
  const [, hint = 'none'] = /^to make another token: (.*)$/m.exec(printed) ?? []
  const second = /pst_[\w-]{43}/.exec(await system.run('sh', '-c', hint))?.[0] ?? 'none'
  expect(await system.request(second, '/plants/1')).toBe(ROSE)
  const [, withSettings = 'none'] = /\nsudo (systemd-run [^`]+)/.exec(configuration) ?? []
  expect(await system.run('sh', '-c', withSettings)).toContain('laptop')
  const status = await system.run('cat', `/proc/${await pid()}/status`)
  expect(status).toMatch(/^Seccomp:\t2$/m)
  expect(status).toMatch(/^CapBnd:\t0+$/m)
  expect(status).not.toMatch(/^Uid:\t0/m)
  return token
}

/** Starts webhooks beside the service. */
async function startWebhooks(service: Service, token: string): Promise<void> {
  const { system, root } = service
  await service.restartWith()
  const receiver = ['WEBHOOK_URL=http://127.0.0.1:9', 'PLANTSTORE_URL=http://127.0.0.1:3000']
  const lines = [...receiver, `PLANTSTORE_TOKEN=${token}`].join('\n')
  writeFileSync(join(root, 'etc/plantstore/forward-orders.env'), lines)
  writeFileSync(join(root, 'etc/plantstore/forward-orders.secret'), `whsec_${btoa(token)}`)
  // Credentials need a mount that namespaces refuse.
  const withoutCredentials = `[Service]\nLoadCredential=\nExecStart=\n${forward}\n`
  const dropIns = join(root, `etc/systemd/system/${WEBHOOKS}.service.d`)
  mkdirSync(dropIns)
  writeFileSync(join(dropIns, 'secret.conf'), withoutCredentials)
  await system.run('systemctl', 'daemon-reload')
  await system.run('systemctl', 'enable', '--now', WEBHOOKS)
  await service.untilUp()
}

/** Expects that an installation says why the service does not run, or that it is disabled. */
async function installBroken({ system, install, ...service }: Service): Promise<void> {
  await service.restartWith('PLANTSTORE_PORT=none')
  await service.failedBySettings()
  const reinstalled = await install()
  expect(reinstalled).toContain('does not run')
  expect(reinstalled).toContain('PLANTSTORE_PORT must be a whole number')
  // This one ends with 1, and is started again each second.
  service.configure('PLANTSTORE_HOST=203.0.113.1')
  const again = await install()
  expect(again).toContain('does not run')
  expect(again).toContain('not an address of this machine')
  await system.run('systemctl', 'disable', '--now', 'plantstore')
  expect(await install()).toContain('is disabled')
  await system.run('systemctl', 'enable', 'plantstore')
}

/** Lets the service write backups and serve on port 443, as docs/hosting.md says. */
async function widenSandbox({ system, root, ...service }: Service): Promise<void> {
  const backups = 'PLANTSTORE_BACKUP_FOLDER=/srv/backups'
  await system.run('install', '-d', '-o', 'plantstore', '/srv/backups')
  await service.restartWith(backups)
  await service.failedBySettings()
  expect(await service.log('-n', '5')).toContain('ReadWritePaths=/srv/backups')
  const [, dropIn = ''] = /```ini\n(.*?)```/s.exec(hosting) ?? []
  const folderOfUnit = join(root, 'etc/systemd/system/plantstore.service.d')
  mkdirSync(folderOfUnit)
  writeFileSync(join(folderOfUnit, 'override.conf'), dropIn)
  await service.restartWith(backups, 'PLANTSTORE_PORT=443')
  await service.untilUp(443)
  await system.until('a backup', async () => (await system.run('ls', '/srv/backups')) !== '')
  rmSync(folderOfUnit, { recursive: true })
  await service.restartWith()
  await service.untilUp()
}

test.skipIf(!isBootable)(
  'with systemd, the package starts the service in its sandbox, restarts it after a crash or an upgrade, webhooks too, and stops it when removed',
  async () => {
    const root = await machine('systemd')
    await using system = await boot(root)
    const service = serviceOf(root, system)
    const { pid, isUp, programOf } = service
    const token = await installFirst(service)

    const first = await pid()
    await system.run('systemctl', 'reload', 'plantstore')
    expect([await system.property('ActiveState'), await pid()]).toEqual(['active', first])

    await system.run('systemctl', 'kill', '--signal=KILL', 'plantstore')
    await system.until('it restarted', async () => (await pid()) !== first && (await isUp()))
    expect(await system.request(token, '/plants/1')).toBe(ROSE)

    await startWebhooks(service, token)
    const untilRunning = (unit: string) =>
      system.until(`${unit} runs`, async () => (await programOf(unit)) === '/usr/bin/plantstore')
    await untilRunning(WEBHOOKS)
    const restarted = await pid()
    await service.install()
    await system.until(
      'the new one is healthy',
      async () => (await pid()) !== restarted && (await isUp()),
    )
    expect(await system.request(token, '/plants/1')).toBe(ROSE)
    // An executable that was replaced is shown as deleted.
    for (const unit of ['plantstore', WEBHOOKS]) await untilRunning(unit)

    await installBroken(service)
    await widenSandbox(service)

    await system.run('dpkg', '-r', 'plantstore')
    expect([await pid(), await system.request('', '/health')]).toEqual(['0', '000'])
    expect(await programOf(WEBHOOKS)).toBe('none')
    expect(existsSync(join(root, data))).toBeTrue()
    await service.install()
    await service.untilUp()
    expect(await system.request(token, '/plants/1')).toBe(ROSE)
  },
)
