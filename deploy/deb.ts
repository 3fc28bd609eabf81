// Makes a Debian package of an executable with dpkg-deb: the same input gives the same bytes.
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { manualPage } from './man'
import { releasePages } from './pages'
import { run } from './run'
import { sumsOf } from './sums'

const here = import.meta.dir
const repository = join(here, '..')
const doc = 'usr/share/doc/plantstore'

/** The units of systemd. A release has them as files too, like those for operators. */
export const UNITS = ['plantstore.service', 'plantstore-forward@.service']
export const FOR_OPERATORS = [
  'plantstore.env',
  'plantstore.rules.yml',
  'grafana-dashboard.json',
  'certbot-hook',
  'proxies/nginx.conf',
  'proxies/Caddyfile',
  'proxies/apache.conf',
  'proxies/haproxy.cfg',
]

type DebOptions = {
  readonly version: string
  readonly architecture: 'amd64' | 'arm64'
  readonly description: string
  /** As in `NAME <ADDRESS>`. */
  readonly maintainer: string
  /** null: none is known. */
  readonly homepage: string | null
  readonly executable: string
  /** The texts that the package has besides the documentation, by their names. */
  readonly texts: Readonly<Record<string, string>>
  readonly outfile: string
  /** Seconds since 1970: the time of every file in the package. */
  readonly epoch: number
}

const control = (options: DebOptions, kibibytes: number): string => `Package: plantstore
Version: ${options.version}
Architecture: ${options.architecture}
Maintainer: ${options.maintainer}
Installed-Size: ${kibibytes}
Depends: libc6 (>= 2.17), adduser
Section: database
Priority: optional
${options.homepage === null ? '' : `Homepage: ${options.homepage}\n`}Description: ${options.description.replace(/^An? |\.$/g, '')}
 One executable with its database inside: creates, reads, replaces and deletes
 plants over HTTP, and answers only after they are on the disk.
`

// The changes are in CHANGELOG.md; Debian requires an entry that names the release.
const changelog = ({ version, maintainer, epoch }: DebOptions): string => {
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
  return `plantstore (${version}) unstable; urgency=medium

  * Release ${version}: see /usr/share/doc/plantstore/CHANGELOG.md.

 -- ${maintainer}  ${date}
`
}

// As gzip -9n makes it, which Debian's policy asks for.
const gzip = (content: string | Uint8Array<ArrayBuffer>): Blob =>
  new Blob([run(['gzip', '-9nc'], { stdin: new Blob([content]) })])

// Debian's form of a license: each line indented, a dot for an empty one.
const indented = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line) => ` ${line || '.'}`)
    .join('\n')

async function copyright(): Promise<string> {
  const head = await Bun.file(join(here, 'debian/copyright')).text()
  const license = await Bun.file(join(repository, 'LICENSE')).text()
  const holder = /^Copyright \(c\) (.+)$/m.exec(license)?.[1] ?? ''
  return `${head}Copyright: ${holder}\nLicense: Expat\n${indented(license)}\n`
}

// The folders in which Debian's shells look for packaged completions. zsh's own has no place for such a script.
const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/plantstore',
  fish: 'usr/share/fish/vendor_completions.d/plantstore.fish',
}

/** The output of a command of the program. */
const print = (...args: string[]) =>
  run([process.execPath, join(repository, 'src/main.ts'), ...args])

/** Every file below a folder, as paths relative to it, sorted. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()

/** Makes the package at `outfile`. Needs dpkg-deb; throws with its message if it fails. */
export async function makeDeb(options: DebOptions): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'plantstore-deb-'))
  try {
    const add = async (to: string, content: string | Blob, mode = 0o644) => {
      await Bun.write(join(root, to), content)
      chmodSync(join(root, to), mode)
    }
    await add('usr/bin/plantstore', Bun.file(options.executable), 0o755)
    for (const unit of UNITS) {
      await add(join('usr/lib/systemd/system', unit), Bun.file(join(here, unit)))
    }
    // No conffile: postinst copies the settings to /etc once, and an upgrade leaves them alone.
    for (const file of FOR_OPERATORS) {
      await add(join('usr/share/plantstore', basename(file)), Bun.file(join(here, file)))
    }
    await add(join(doc, 'copyright'), await copyright())
    await add(join(doc, 'changelog.gz'), gzip(changelog(options)))
    for (const [name, text] of Object.entries(options.texts)) {
      await add(join(doc, `${name}.gz`), gzip(text))
    }
    for (const [path, page] of Object.entries(await releasePages([]))) {
      await add(join(doc, path), page)
    }
    await add('usr/share/lintian/overrides/plantstore', Bun.file(join(here, 'debian/overrides')))
    await add('usr/share/man/man1/plantstore.1.gz', gzip(await manualPage(options.epoch)))
    for (const [shell, path] of Object.entries(COMPLETIONS)) {
      await add(path, new Blob([print('completion', shell)]))
    }

    const files = filesBelow(root)
    const sizes = files.map((name) => Math.ceil(statSync(join(root, name)).size / 1024))
    const kibibytes = sizes.reduce((sum, size) => sum + size, 0)
    await add('DEBIAN/control', control(options, kibibytes))
    await add('DEBIAN/md5sums', await sumsOf('md5', root, files))
    for (const name of ['postinst', 'prerm', 'postrm']) {
      await add(`DEBIAN/${name}`, Bun.file(join(here, 'debian', name)), 0o755)
    }
    // Folders have the mode of the package, not of the umask here.
    for (const folder of new Set(filesBelow(root).flatMap(ancestors))) {
      chmodSync(join(root, folder), 0o755)
    }

    // xz -6 takes ten times as long for a seventh less; the number of threads must not change the bytes.
    const flags = ['--root-owner-group', '--threads-max=1', '-Zxz', '-z0']
    const built = Bun.spawn(['dpkg-deb', ...flags, '--build', root, options.outfile], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(options.epoch), LC_ALL: 'C' },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    if ((await built.exited) !== 0) {
      throw new Error(`dpkg-deb: ${await new Response(built.stderr).text()}`)
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** The folders above a path: `a/b/c` gives `a/b`, `a` and `.`. */
function ancestors(path: string): string[] {
  const parent = dirname(path)
  return parent === '.' ? ['.'] : [parent, ...ancestors(parent)]
}
