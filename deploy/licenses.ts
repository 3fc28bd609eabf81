// The licenses of everything in an executable, as one text: what each part is, where its source is, and its terms.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Parts } from './sbom'

const root = join(import.meta.dir, '..')
const folder = join(import.meta.dir, 'licenses')

// Long texts that several parts share stand once, at the end.
const shared: Readonly<Record<string, string>> = {
  'Apache-2.0': 'Apache-2.0',
  'LGPL-2.0-or-later': 'LGPL-2',
  'LGPL-2.1-only': 'LGPL-2.1',
}

type Part = Parts['platform']

const readText = async (path: string): Promise<string> => (await Bun.file(path).text()).trim()

/** Where the source of a part is, at the version that is in the executable if that is known. */
function sourceOf({ name, version, purl }: Part): string {
  const [, repository] = /^pkg:github\/([^@]+)/.exec(purl) ?? []
  if (repository === undefined) {
    return purl.startsWith('pkg:npm/') ? `https://www.npmjs.com/package/${name}/v/${version}` : purl
  }
  const [, revision] = purl.split('@')
  return `https://github.com/${repository}${revision ? `/tree/${revision.replace('#', '/')}` : ''}`
}

async function termsOf({ name, version, licenses }: Part, isPackage: boolean): Promise<string> {
  const id = licenses[0]?.license.id ?? ''
  if (isPackage) {
    const path = join(root, 'node_modules', name)
    const file = readdirSync(path).find((it) => /^licen[cs]e/i.test(it))
    if (!file) throw new Error(`${name} has no file with its license`)
    return readText(join(path, file))
  }
  if (name === 'Bun') {
    return `Bun itself is MIT-licensed. It embeds npm packages under the same license, which are listed in
https://github.com/oven-sh/bun/blob/bun-v${version}/LICENSE.md`
  }
  if (id === 'blessing') return 'In the public domain: https://sqlite.org/copyright.html'
  const own = Bun.file(join(folder, `${name.toLowerCase()}.txt`))
  if (await own.exists()) return (await own.text()).trim()
  const text = shared[id]
  if (text === undefined) throw new Error(`deploy/licenses has no text for ${name}`)
  return `The text of ${text} is at the end.`
}

/** The text of all licenses. */
export async function listLicenses(product: string, parts: Parts): Promise<string> {
  const { platform, natives, packages } = parts
  const section = async (part: Part, isPackage: boolean) => {
    const head = [part.name, part.version].filter(Boolean).join(' ')
    const { id } = part.licenses[0]?.license ?? { id: 'none' }
    const terms = await termsOf(part, isPackage)
    return `## ${head}\n\nLicense: ${id}\nSource: ${sourceOf(part)}\n\n${terms}\n`
  }
  const texts = [...new Set(Object.values(shared))].map(
    async (name) => `## ${name}\n\n${await readText(join(folder, `${name}.txt`))}\n`,
  )
  const head = `# Licenses of ${product}

${await readText(join(root, 'LICENSE'))}

The executable contains the parts below. JavaScriptCore and TinyCC are under the LGPL, and linked statically. To use changed
versions of them: build Bun ${platform.version} from its source with your versions, then run "bun install" and "bun build.ts"
with that Bun in the source of plantstore.
`
  const sections = [
    section(platform, false),
    ...natives.map((part) => section(part, false)),
    ...packages.map((part) => section(part, true)),
    ...texts,
  ]
  return [head, ...(await Promise.all(sections))].join('\n')
}
