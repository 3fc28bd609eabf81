// The files of a release: reproducible, listed, signed. `bun run test:release` makes them first.
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { root } from '../../harness/daemon'
import { ownFolder } from '../../harness/own-folder'
import { run } from '../../harness/process'
import { executable, has, released, sh, version } from './lab'

const hasSsh = await has('ssh-keygen')
const folder = ownFolder()
// It makes a release, beside other tests.
setDefaultTimeout(900_000)
const copy = folder.file('another folder/with a longer path/plantstore')
const key = folder.file('key')
const validator = join(import.meta.dir, 'sbom')
const hosting = readFileSync(join(root, 'docs/hosting.md'), 'utf8')
const sums = readFileSync(released('SHA256SUMS'), 'utf8')

// A second release of the same files: another folder, umask, time zone and language; signed.
beforeAll(async () => {
  mkdirSync(copy, { recursive: true })
  await sh(['sh', '-c', `cd ${root} && git ls-files -z | tar -c --null -T - | tar -x -C "${copy}"`])
  if (hasSsh) await sh(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key])
  const epoch = (await sh(['git', '-C', root, 'log', '-1', '--format=%ct'])).trim()
  const maintainer = (await sh(['git', '-C', root, 'log', '-1', '--format=%cn <%ce>'])).trim()
  const commit = (await sh([executable('x64'), '--version'])).match(/commit (\S+)\)/)?.[1]
  const flags = `--commit ${commit} ${hasSsh ? `--sign-key ${key} ` : ''}--maintainer "${maintainer}"`
  const release = `"${process.execPath}" run release ${flags}`
  const env = { SOURCE_DATE_EPOCH: epoch, TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' }
  await sh(['sh', '-c', `umask 077 && cd "${copy}" && ${release}`], env)
  await sh(['sh', '-c', `cd ${validator} && "${process.execPath}" install --frozen-lockfile`])
})

test('SHA256SUMS lists every file of its folder, and each has its sum', async () => {
  const listed = sums.match(/\S+$/gm) ?? []
  expect(listed).toEqual([
    'Caddyfile',
    'Dockerfile',
    'apache.conf',
    'certbot-hook',
    'compose.yaml',
    'grafana-dashboard.json',
    'haproxy.cfg',
    'nginx.conf',
    `plantstore-${version}-1.aarch64.rpm`,
    `plantstore-${version}-1.x86_64.rpm`,
    `plantstore-${version}-linux-arm64`,
    `plantstore-${version}-linux-arm64-musl`,
    `plantstore-${version}-linux-arm64.tar.gz`,
    `plantstore-${version}-linux-x64`,
    `plantstore-${version}-linux-x64-musl`,
    `plantstore-${version}-linux-x64.tar.gz`,
    `plantstore-${version}.cdx.json`,
    `plantstore-${version}.licenses.txt`,
    `plantstore-client-${version}.tgz`,
    'plantstore-forward@.service',
    'plantstore.1',
    'plantstore.env',
    'plantstore.rules.yml',
    'plantstore.service',
    `plantstore_${version}_aarch64.apk`,
    `plantstore_${version}_amd64.deb`,
    `plantstore_${version}_arm64.deb`,
    `plantstore_${version}_x86_64.apk`,
  ])
  expect(readdirSync(released('')).toSorted()).toEqual([...listed, 'SHA256SUMS'].toSorted())
  await sh(['sh', '-c', `cd ${root}/dist/release && sha256sum --check --strict SHA256SUMS`])
})

test('a release of the same commit has the same bytes, in whatever folder it is made', () => {
  expect(readFileSync(join(copy, 'dist/release/SHA256SUMS'), 'utf8')).toBe(sums)
})

test('the tarball is verified, unpacked and started as docs/hosting.md says', async () => {
  const [, commands = ''] = /## A tarball\n.*?```sh\n(.*?)```/s.exec(hosting) ?? []
  const unpacked = folder.file('unpacked')
  mkdirSync(unpacked)
  for (const file of ['SHA256SUMS', `plantstore-${version}-linux-x64.tar.gz`]) {
    copyFileSync(released(file), join(unpacked, file))
  }
  const script = commands.replace(/^sudo install .*\n/m, '').replace(' serve', ' --version')
  const { out, err, code } = await run(['sh', '-ec', script], { cwd: unpacked })

  expect({ err, code }).toEqual({ err: '', code: 0 })
  expect(out).toContain(`plantstore-${version}-linux-x64.tar.gz: OK\n`)
  expect(out).toContain(`plantstore ${version}`)
})

test.skipIf(!hasSsh)('the signature verifies, and not for a list that was changed', async () => {
  const list = join(copy, 'dist/release/SHA256SUMS')
  const signers = folder.file('allowed_signers')
  writeFileSync(signers, `plantstore ${readFileSync(`${key}.pub`, 'utf8')}`)
  const verify = async () => {
    const flags = `-f "${signers}" -I plantstore -n plantstore-release -s "${list}.sig"`
    return (await run(['sh', '-c', `ssh-keygen -Y verify ${flags} < "${list}"`])).code
  }
  expect(await verify()).toBe(0)
  appendFileSync(list, '\n')
  expect(await verify()).not.toBe(0)
})

type Sbom = {
  readonly components: readonly { readonly name: string; readonly version?: string }[]
}

test('the SBOM names Bun, its libraries and the npm packages, with their versions', async () => {
  const sbom: Sbom = await Bun.file(released(`plantstore-${version}.cdx.json`)).json()
  const versions = Object.fromEntries(
    sbom.components.map((component) => [component.name, component.version]),
  )
  expect(versions).toMatchObject({
    Bun: Bun.version,
    JavaScriptCore: process.versions.webkit,
    SQLite: process.versions.sqlite,
    BoringSSL: process.versions.boringssl,
    elysia: (await Bun.file(join(root, 'node_modules/elysia/package.json')).json()).version,
  })
  expect(Object.keys(versions)).not.toContain('typescript')
})

test('the list of licenses has the terms and the source of every part of the SBOM', async () => {
  const sbom: Sbom = await Bun.file(released(`plantstore-${version}.cdx.json`)).json()
  const text = readFileSync(released(`plantstore-${version}.licenses.txt`), 'utf8')
  const sections = text.split(/^## /m)
  for (const { name, version } of sbom.components) {
    const head = [name, version].filter(Boolean).join(' ')
    const section = sections.find((section) => section.startsWith(`${head}\n`)) ?? ''
    expect(section).toMatch(/\nLicense: \S+\nSource: \S+\n\n\S/)
  }
  expect(text).toContain(`https://github.com/oven-sh/WebKit/tree/${process.versions.webkit}\n`)
  expect(text).toContain(`https://github.com/oven-sh/tinycc/tree/${process.versions.tinycc}\n`)
  expect(text).toContain('\n## LGPL-2\n\nGNU LIBRARY GENERAL PUBLIC LICENSE\n')
  expect(text).toContain('\n## LGPL-2.1\n')
  expect(text).toContain(`/oven-sh/bun/tree/${Bun.revision}/packages/bun-usockets\n`)
})

test("CycloneDX's own validator accepts the SBOM", async () => {
  const text = readFileSync(released(`plantstore-${version}.cdx.json`), 'utf8')
  const validate = (stdin: string) =>
    run([process.execPath, join(validator, 'validate.js')], { stdin })
  expect(await validate(text)).toEqual({ out: '', err: '', code: 0 })
  const { out } = await validate(text.replace('"application"', '"no such type"'))
  expect(out).toContain('must be equal to one of the allowed values')
})
