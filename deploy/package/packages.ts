// Makes the packages for Debian, RPM and Alpine with nfpm: the same input gives the same bytes.
import { basename, join } from 'node:path'
import { run } from '../run'

// Later versions need modules that a Go proxy with a list of allowed hosts may refuse.
const NFPM = 'github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2'
// Compressed bytes may differ between versions of Go, which gets this one if it is another.
const GOTOOLCHAIN = 'go1.26.8'

const here = import.meta.dir
const deploy = join(here, '..')
const doc = 'usr/share/doc/plantstore'

/** The systemd units. A release has them as files too, like those for operators. */
export const UNITS = ['plantstore.service', 'plantstore-forward@.service']
export const FOR_OPERATORS = [
  'plantstore.env',
  'plantstore.rules.yml',
  'grafana-dashboard.json',
  'certbot-hook',
  ...['nginx.conf', 'Caddyfile', 'apache.conf', 'haproxy.cfg'].map((file) => `proxies/${file}`),
]

export const FORMATS = ['deb', 'rpm', 'apk'] as const

type Files = Readonly<Record<string, string | Blob>>

type Release = {
  readonly version: string
  /** As in `NAME <ADDRESS>`. */
  readonly maintainer: string
  /** Null if there is none. */
  readonly homepage: string | null
  /** Seconds since 1970: the time of every file in the packages. */
  readonly epoch: number
}

// The changes are in CHANGELOG.md; Debian requires an entry that names the release.
const changelog = ({ version, maintainer, epoch }: Release): string =>
  `plantstore (${version}) unstable; urgency=medium

  * Release ${version}: see /usr/share/doc/plantstore/CHANGELOG.md.

 -- ${maintainer}  ${new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')}
`

type Contents = {
  readonly manualPage: string
  readonly completions: Readonly<Record<'bash' | 'fish', string>>
  /** The documentation, by its paths. */
  readonly pages: Files
  /** The SBOM and the licenses. */
  readonly texts: Files
}

/** Writes the files of the packages, without the executable, into an empty folder. */
export async function stagePackages(
  folder: string,
  { manualPage, completions, pages, texts }: Contents,
  release: Release,
): Promise<void> {
  const compressed = {
    'debian/changelog': changelog(release),
    'usr/share/man/man1/plantstore.1': manualPage,
    ...under(doc, texts),
  }
  const files: Files = {
    ...compressed,
    ...under(doc, pages),
    [join(doc, 'copyright')]: Bun.file(join(here, 'copyright')),
    'usr/share/bash-completion/completions/plantstore': completions.bash,
    'usr/share/fish/vendor_completions.d/plantstore.fish': completions.fish,
    ...under('usr/lib/systemd/system', filesOf(deploy, UNITS)),
    // postinst copies the settings to /etc once, and an upgrade leaves them alone.
    ...under('usr/share/plantstore', filesOf(deploy, FOR_OPERATORS)),
    ...under('debian', filesOf(here, ['overrides'])),
    ...under('scripts', filesOf(here, ['postinst', 'prerm', 'postrm'])),
  }
  for (const [path, content] of Object.entries(files)) await Bun.write(join(folder, path), content)
  run(['gzip', '-9n', ...Object.keys(compressed)], { cwd: folder })
  // Packages keep the modes and times of these files, which are those of the umask and of now.
  run(['chmod', '-R', 'u=rwX,go=rX', folder])
  run(['chmod', '755', join(folder, 'usr/share/plantstore/certbot-hook')])
  run(['find', folder, '-exec', 'touch', '--date', `@${release.epoch}`, '{}', '+'])
}

/** Makes a package of staged files and an executable. Needs Go. */
export function makePackage(
  folder: string,
  format: (typeof FORMATS)[number],
  { arch, executable, outfile }: Readonly<Record<'arch' | 'executable' | 'outfile', string>>,
  { version, maintainer, homepage, epoch }: Release,
): void {
  const config = join(here, 'nfpm.yaml')
  const nfpm = ['go', 'run', NFPM, 'package', '--config', config, '--packager', format]
  run([...nfpm, '--target', outfile], {
    cwd: folder,
    env: {
      ...process.env,
      GOTOOLCHAIN,
      ARCH: arch,
      EXECUTABLE: executable,
      VERSION: version,
      MAINTAINER: maintainer,
      HOMEPAGE: homepage ?? '',
      SOURCE_DATE_EPOCH: String(epoch),
    },
  })
}

const filesOf = (folder: string, names: readonly string[]): Files =>
  Object.fromEntries(names.map((name) => [basename(name), Bun.file(join(folder, name))]))

const under = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, file]) => [join(folder, path), file]))
