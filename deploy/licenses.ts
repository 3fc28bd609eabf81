// The licenses of everything in an executable, as one text: each part, its source and its terms.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Part, Parts } from './parts'

const root = join(import.meta.dir, '..')

/** Long texts that several parts share, which stand once, at the end. */
const SHARED = ['Apache-2.0', 'LGPL-2', 'LGPL-2.1']

const readText = (path: string): string => readFileSync(join(root, path), 'utf8').trim()

const section = ({ name, version, license, source, terms }: Part): string =>
  `## ${[name, version].filter(Boolean).join(' ')}\n\nLicense: ${license}\nSource: ${source}\n\n${terms}\n`

/** The text of all licenses. */
export function listLicenses(product: string, { platform, natives, packages }: Parts): string {
  const head = `# Licenses of ${product}

${readText('LICENSE')}

The executable contains the parts below. JavaScriptCore and TinyCC are under the LGPL, and linked statically. To use changed
versions of them: build Bun ${platform.version} from its source with your versions, then run "bun install" and "bun build.ts"
with that Bun in the source of plantstore.
`
  const texts = SHARED.map((name) => `## ${name}\n\n${readText(`deploy/licenses/${name}.txt`)}\n`)
  return [head, ...[platform, ...natives, ...packages].map(section), ...texts].join('\n')
}
