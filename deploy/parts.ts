// The parts of an executable: Bun, the libraries in Bun, and the npm packages of the build.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')
const folder = join(import.meta.dir, 'licenses/parts')

/** Names in `process.versions` that are not parts: compatible versions, compilers, and libraries for Windows only. */
const NOT_PARTS = 'bun node openssl v8 uv napi modules unicode typescript zig'.split(' ')

export type Part = {
  readonly name: string
  /** Absent where Bun does not say it. */
  readonly version?: string | undefined
  /** Its SPDX identifier, or `LicenseRef-…`. */
  readonly license: string
  /** The URL of its source, at the version in the executable if that is known. */
  readonly source: string
  readonly terms: string
  readonly purl: string
  /** SHA-512 of its npm package, in hexadecimal. */
  readonly sha512?: string
}

/** The key of a part in `process.versions`, or its name, and the file of its license. */
const partFiles = (): string[] => readdirSync(folder).map((file) => file.replace(/\.txt$/, ''))

/** A part of Bun: a file of deploy/licenses/parts says what it is, the runtime which version. */
function nativePart(key: string): Part {
  const [head = '', ...rest] = readFileSync(join(folder, `${key}.txt`), 'utf8').split('\n\n')
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1]
  const [name = key, license = '', home = ''] = ['Name', 'License', 'Source'].map(field)
  const [version, within] = [process.versions[key], field('Folder')]
  const [, repository] = /^https:\/\/github\.com\/(.+)$/.exec(home) ?? []
  const place = repository ? `github/${repository}` : `generic/${key}`
  const tree = repository && version ? `/tree/${version}${within ? `/${within}` : ''}` : ''
  return {
    name,
    version,
    license,
    source: `${home}${tree}`,
    terms: rest.join('\n\n').trim(),
    purl: `pkg:${place.toLowerCase()}${version ? `@${version}` : ''}${within ? `#${within}` : ''}`,
  }
}

/** The libraries in Bun. Throws if the license of one is not known. */
function nativeParts(): Part[] {
  const files = partFiles()
  const unknown = Object.keys(process.versions).filter(
    (key) => !files.includes(key) && !NOT_PARTS.includes(key),
  )
  if (unknown.length > 0) {
    throw new Error(`deploy/licenses/parts has no license of ${unknown}, a part of Bun`)
  }
  return files.sort().map(nativePart)
}

function bun(): Part {
  const { version } = Bun
  const source = `https://github.com/oven-sh/bun/tree/bun-v${version}`
  const terms = `Bun itself is MIT-licensed. It embeds npm packages under the same license, which are listed in
https://github.com/oven-sh/bun/blob/bun-v${version}/LICENSE.md`
  const purl = `pkg:github/oven-sh/bun@bun-v${version}`
  return { name: 'Bun', version, license: 'MIT', source, terms, purl }
}

type Lock = { readonly packages: Readonly<Record<string, readonly unknown[]>> }

async function npmPart(name: string, lock: Lock): Promise<Part> {
  const own = join(root, 'node_modules', name)
  const manifest = await Bun.file(join(own, 'package.json')).json()
  const version = String(manifest.version)
  const [locked, , , integrity] = lock.packages[name] ?? []
  if (locked !== `${name}@${version}`) throw new Error(`bun.lock has ${locked}, not ${version}`)
  const text = readdirSync(own).find((file) => /^licen[cs]e/i.test(file))
  if (!text) throw new Error(`${name} has no file with its license`)
  return {
    name,
    version,
    license: String(manifest.license),
    source: `https://www.npmjs.com/package/${name}/v/${version}`,
    terms: readFileSync(join(own, text), 'utf8').trim(),
    purl: `pkg:npm/${name.replace(/^@/, '%40')}@${version}`,
    sha512: Buffer.from(String(integrity).replace(/^sha512-/, ''), 'base64').toString('hex'),
  }
}

/** The names of the npm packages whose files a build read, by its metafile. */
function bundledPackages(metafile: { inputs: Record<string, unknown> }): string[] {
  const names = Object.keys(metafile.inputs).map(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1],
  )
  return [...new Set(names.filter((name) => name !== undefined))].sort()
}

/** The parts of an executable, by the metafile of its build. */
export async function listParts(metafile: { inputs: Record<string, unknown> }) {
  const lock = Bun.JSONC.parse(await Bun.file(join(root, 'bun.lock')).text()) as Lock
  const packages = bundledPackages(metafile).map((name) => npmPart(name, lock))
  return { platform: bun(), natives: nativeParts(), packages: await Promise.all(packages) }
}

export type Parts = Awaited<ReturnType<typeof listParts>>
