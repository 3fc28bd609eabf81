// The bill of materials of an executable (CycloneDX 1.6): Bun, what Bun is made of, and the npm packages bundled.
import { join } from 'node:path'

const root = join(import.meta.dir, '..')

type Native = {
  readonly name: string
  readonly license: string
  readonly repository?: string
  /** Its place in the repository, if it is not all of it. */
  readonly folder?: string
}

// By the names of `process.versions`. Most versions there are commits of the repository that Bun builds from.
const natives: Readonly<Record<string, Native>> = {
  ares: { name: 'c-ares', license: 'MIT', repository: 'c-ares/c-ares' },
  boringssl: { name: 'BoringSSL', license: 'Apache-2.0', repository: 'oven-sh/boringssl' },
  icu: { name: 'ICU', license: 'Unicode-3.0' },
  libarchive: { name: 'libarchive', license: 'BSD-2-Clause', repository: 'libarchive/libarchive' },
  libdeflate: { name: 'libdeflate', license: 'MIT', repository: 'ebiggers/libdeflate' },
  llhttp: { name: 'llhttp', license: 'MIT' },
  lolhtml: { name: 'lol-html', license: 'BSD-3-Clause', repository: 'cloudflare/lol-html' },
  lshpack: { name: 'ls-hpack', license: 'MIT', repository: 'litespeedtech/ls-hpack' },
  mimalloc: { name: 'mimalloc', license: 'MIT', repository: 'oven-sh/mimalloc' },
  picohttpparser: { name: 'picohttpparser', license: 'MIT', repository: 'h2o/picohttpparser' },
  sqlite: { name: 'SQLite', license: 'blessing' },
  tinycc: { name: 'TinyCC', license: 'LGPL-2.1-only', repository: 'oven-sh/tinycc' },
  usockets: {
    name: 'uSockets',
    license: 'Apache-2.0',
    repository: 'oven-sh/bun',
    folder: 'packages/bun-usockets',
  },
  uwebsockets: {
    name: 'uWebSockets',
    license: 'Apache-2.0',
    repository: 'oven-sh/bun',
    folder: 'packages/bun-uws',
  },
  webkit: { name: 'JavaScriptCore', license: 'LGPL-2.0-or-later', repository: 'oven-sh/WebKit' },
  zlib: { name: 'zlib-ng', license: 'Zlib', repository: 'zlib-ng/zlib-ng' },
  zstd: { name: 'Zstandard', license: 'BSD-3-Clause', repository: 'facebook/zstd' },
}

// What Bun links besides, without a name there (https://github.com/oven-sh/bun/blob/main/LICENSE.md).
const unnamed: readonly Native[] = [
  { name: 'base64', license: 'BSD-2-Clause', repository: 'aklomp/base64' },
  { name: 'Brotli', license: 'MIT', repository: 'google/brotli' },
  { name: 'Highway', license: 'Apache-2.0', repository: 'google/highway' },
  { name: 'libjpeg-turbo', license: 'BSD-3-Clause', repository: 'libjpeg-turbo/libjpeg-turbo' },
  { name: 'libspng', license: 'BSD-2-Clause', repository: 'randy408/libspng' },
  { name: 'libwebp', license: 'BSD-3-Clause', repository: 'webmproject/libwebp' },
  { name: 'ls-qpack', license: 'MIT', repository: 'litespeedtech/ls-qpack' },
  { name: 'lsquic', license: 'MIT', repository: 'litespeedtech/lsquic' },
  { name: 'simdutf', license: 'Apache-2.0', repository: 'simdutf/simdutf' },
  { name: 'uucode', license: 'MIT', repository: 'jacobsandlund/uucode' },
]

// What Bun is compatible with, is compiled by, or has on Windows only.
const notParts = new Set('bun node openssl v8 uv napi modules unicode typescript zig'.split(' '))

/** A name of `process.versions` that this file knows nothing of: a new Bun brought it. */
export const unknownParts = (): string[] =>
  Object.keys(process.versions).filter((name) => !(name in natives) && !notParts.has(name))

type License = { readonly license: { readonly id: string } }

type Component = {
  readonly type: 'library' | 'platform'
  readonly 'bom-ref': string
  readonly name: string
  /** Absent where Bun does not say it. */
  readonly version?: string
  readonly licenses: readonly License[]
  readonly purl: string
  readonly cpe?: string
  readonly hashes?: readonly object[]
}

const licensed = (id: string): License[] => [{ license: { id } }]

type Named = Pick<Component, 'name' | 'purl'> & { readonly license: string }

function component(
  { name, license, purl }: Named,
  version: string | undefined,
  more: Pick<Component, 'cpe' | 'hashes'> = {},
): Component {
  const versioned = version === undefined ? { name } : { name, version }
  const licenses = licensed(license)
  return { type: 'library', 'bom-ref': purl, ...versioned, licenses, purl, ...more }
}

function nativeComponent({ name, license, repository, folder }: Native, version?: string) {
  const place = repository ? `github/${repository.toLowerCase()}` : `generic/${name.toLowerCase()}`
  const revision = version === undefined ? '' : `@${version}`
  const purl = `pkg:${place}${revision}${folder ? `#${folder}` : ''}`
  const cpe = name === 'SQLite' ? { cpe: `cpe:2.3:a:sqlite:sqlite:${version}:*:*:*:*:*:*:*` } : {}
  return component({ name, license, purl }, version, cpe)
}

function nativeComponents(): Component[] {
  const versioned = Object.entries(natives).flatMap(([key, native]) => {
    const version = process.versions[key]
    return version === undefined ? [] : [nativeComponent(native, version)]
  })
  return [...versioned, ...unnamed.map((native) => nativeComponent(native))]
}

function bun(): Component {
  const { version } = Bun
  const purl = `pkg:github/oven-sh/bun@bun-v${version}`
  return { ...component({ name: 'Bun', license: 'MIT', purl }, version), type: 'platform' }
}

type Lock = { readonly packages: Readonly<Record<string, readonly unknown[]>> }

async function npmComponent(name: string, lock: Lock): Promise<Component> {
  const manifest = await Bun.file(join(root, 'node_modules', name, 'package.json')).json()
  const version = String(manifest.version)
  const [locked, , , integrity] = lock.packages[name] ?? []
  if (locked !== `${name}@${version}`) throw new Error(`bun.lock has ${locked}, not ${version}`)
  const content = Buffer.from(String(integrity).replace(/^sha512-/, ''), 'base64').toString('hex')
  const purl = `pkg:npm/${name.replace(/^@/, '%40')}@${version}`
  const license = String(manifest.license)
  return component({ name, license, purl }, version, { hashes: [{ alg: 'SHA-512', content }] })
}

/** The names of the npm packages whose files a build read, by its metafile. */
function bundledPackages(metafile: { inputs: Record<string, unknown> }): string[] {
  const names = Object.keys(metafile.inputs).map(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1],
  )
  return [...new Set(names.filter((name) => name !== undefined))].sort()
}

/** What an executable is made of: Bun, what Bun is made of, and the npm packages that a build read, by its metafile. */
export async function listParts(metafile: { inputs: Record<string, unknown> }) {
  const lock = Bun.JSONC.parse(await Bun.file(join(root, 'bun.lock')).text()) as Lock
  const packages = bundledPackages(metafile).map((name) => npmComponent(name, lock))
  return { platform: bun(), natives: nativeComponents(), packages: await Promise.all(packages) }
}

export type Parts = Awaited<ReturnType<typeof listParts>>

type SbomOptions = {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  /** Seconds since 1970. */
  readonly epoch: number
  readonly parts: Parts
}

/** The bill of materials, as the text of a CycloneDX 1.6 JSON document. */
export function makeSbom(options: SbomOptions): string {
  const { name, version, description, license, epoch } = options
  const { platform, natives: libraries, packages } = options.parts
  const purl = `pkg:generic/${name}@${version}`
  const refs = (components: readonly Component[]) => components.map((it) => it['bom-ref'])
  const body = {
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': purl,
        name,
        version,
        description,
        licenses: licensed(license),
        purl,
      },
    },
    components: [platform, ...libraries, ...packages],
    dependencies: [
      { ref: purl, dependsOn: [...refs([platform]), ...refs(packages)] },
      { ref: platform['bom-ref'], dependsOn: refs(libraries) },
    ],
  }
  // The same content has the same serial number.
  const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify(body)).digest('hex')
  const uuid = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: `urn:uuid:${uuid}` }
  return `${JSON.stringify({ ...head, ...body }, null, 2)}\n`
}
