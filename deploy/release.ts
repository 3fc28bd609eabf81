// Makes all files of a release in dist/release/: `bun run release [--sign-key FILE] [--maintainer 'NAME <ADDRESS>'] [--homepage URL] [--commit COMMIT]`.
// docs/hosting.md says how to verify them.
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import packageJson from '../package.json'
import { buildClient, packClient } from './client-package'
import { releaseCompose, releaseDockerfile } from './container'
import { listLicenses } from './licenses'
import { manualPage } from './man'
import { FOR_OPERATORS, FORMATS, makePackage, stagePackages, UNITS } from './package/packages'
import { releasePages } from './pages'
import { listParts } from './parts'
import { run } from './run'
import { makeSbom } from './sbom'
import { makeTarball } from './tarball'

const root = join(import.meta.dir, '..')
const dist = join(root, 'dist/release')
const { name, version, description, license } = packageJson

const ARCHITECTURES = [
  ['amd64', 'x64', 'x86_64'],
  ['arm64', 'arm64', 'aarch64'],
] as const
const TARGETS = ['x64', 'arm64', 'x64-musl', 'arm64-musl'] as const

const { values } = parseArgs({
  options: {
    'sign-key': { type: 'string' },
    maintainer: { type: 'string' },
    homepage: { type: 'string' },
    commit: { type: 'string' },
  },
})

const inRoot = (...command: string[]): string => Buffer.from(run(command, { cwd: root })).toString()

// The executables hold the Bun that builds them.
const wanted = packageJson.packageManager.replace('bun@', '')
if (Bun.version !== wanted) throw new Error(`a release needs Bun ${wanted}, not ${Bun.version}`)

if (Bun.which('go') === null) throw new Error('a release needs Go 1.21 or later, for nfpm')

// The time of a release is that of its commit.
const epoch = Number(Bun.env.SOURCE_DATE_EPOCH || inRoot('git', 'log', '-1', '--format=%ct'))
// A rebuild of the same commit needs the same --maintainer, or none, for the same bytes.
const maintainer = values.maintainer ?? inRoot('git', 'log', '-1', '--format=%cn <%ce>').trim()
const made: string[] = []
const add = (file: string): string => {
  made.push(file)
  console.log(`dist/release/${file}`)
  return join(dist, file)
}

// The folder has the release alone.
rmSync(dist, { recursive: true, force: true })
mkdirSync(dist, { recursive: true })

const work = mkdtempSync(join(root, 'dist/.release-'))
try {
  const metafile = join(work, 'meta.json')
  for (const target of TARGETS) {
    // The name of the output is in the executable: it is the same for all.
    const outfile = join(work, 'plantstore')
    const build = ['--target', `bun-linux-${target}`, '--outfile', outfile]
    // What is bundled is the same for all, and the pages are built again for the list of it.
    if (target === TARGETS[0]) build.push('--metafile', metafile)
    if (values.commit) build.push('--commit', values.commit)
    inRoot(process.execPath, join(root, 'build.ts'), ...build)
    renameSync(outfile, add(`${name}-${version}-linux-${target}`))
  }

  const client = join(work, 'client')
  await buildClient(client)
  packClient(client, add(`${name}-client-${version}.tgz`))

  const parts = await listParts(await Bun.file(metafile).json())
  const texts = {
    'cdx.json': makeSbom({ name, version, description, license, epoch, parts }),
    'licenses.txt': listLicenses(`${name} ${version}`, parts),
  }
  for (const [file, text] of Object.entries(texts)) {
    await Bun.write(add(`${name}-${version}.${file}`), text)
  }

  const man = await manualPage(epoch)
  await Bun.write(add(`${name}.1`), man)
  const complete = (shell: string) => inRoot(process.execPath, 'src/main.ts', 'completion', shell)
  const completions = { bash: complete('bash'), fish: complete('fish') }
  const pages = await releasePages([])

  const staged = join(work, 'packages')
  const release = { version, maintainer, homepage: values.homepage ?? null, epoch }
  await stagePackages(staged, { manualPage: man, completions, pages, texts }, release)
  for (const [arch, target, rpmArch] of ARCHITECTURES) {
    const outfiles = {
      deb: `${name}_${version}_${arch}.deb`,
      rpm: `${name}-${version}-1.${rpmArch}.rpm`,
      apk: `${name}_${version}_${rpmArch}.apk`,
    }
    for (const format of FORMATS) {
      // Alpine's C library is musl.
      const suffix = format === 'apk' ? '-musl' : ''
      const executable = join(dist, `${name}-${version}-linux-${target}${suffix}`)
      makePackage(staged, format, { arch, executable, outfile: add(outfiles[format]) }, release)
    }
  }

  for (const [, target] of ARCHITECTURES) {
    const base = `${name}-${version}-linux-${target}`
    const files = {
      plantstore: Bun.file(join(dist, base)),
      LICENSE: Bun.file(join(root, 'LICENSE')),
      ...(await releasePages(['LICENSE'])),
      'plantstore.1': man,
      'plantstore.env': Bun.file(join(root, 'deploy/plantstore.env')),
      'plantstore.service': Bun.file(join(root, 'deploy/plantstore.service')),
      'completions/plantstore.bash': completions.bash,
      'completions/plantstore.fish': completions.fish,
    }
    await makeTarball(add(`${base}.tar.gz`), files, epoch)
  }

  for (const file of [...UNITS, ...FOR_OPERATORS]) {
    copyFileSync(join(root, 'deploy', file), add(basename(file)))
  }
  await Bun.write(add('Dockerfile'), await releaseDockerfile(version))
  await Bun.write(add('compose.yaml'), await releaseCompose())
} finally {
  rmSync(work, { recursive: true, force: true })
}

const sums = run(['sha256sum', ...made.toSorted()], { cwd: dist })
const list = add('SHA256SUMS')
await Bun.write(list, sums)

const key = values['sign-key']
if (key) {
  inRoot('ssh-keygen', '-Y', 'sign', '-f', key, '-n', 'plantstore-release', list)
  add('SHA256SUMS.sig')
}
