// The documentation as a release has it: links to files that it lacks become plain text.
import { join, normalize } from 'node:path'

const root = join(import.meta.dir, '..')

const scan = (pattern: string): string[] => [...new Bun.Glob(pattern).scanSync(root)]

/** The pages that only readers of the source need, and their pictures. */
const FOR_DEVELOPERS = [
  'CONTRIBUTING.md',
  ...['architecture.md', 'architecture.svg', 'benchmarks.md', 'decisions.md', 'recipes.md'].map(
    (page) => `docs/${page}`,
  ),
]

const LINK = /\[([^\]]+)\]\(([^)\s#]*)(#[^)\s]*)?\)/g

/** Every page for users and operators, and the pictures of pages, by its path. `others`: other files beside them. */
export async function releasePages(
  others: readonly string[],
): Promise<Readonly<Record<string, string | Blob>>> {
  const paths = ['*.md', 'docs/*']
    .flatMap(scan)
    .filter((path) => !FOR_DEVELOPERS.includes(path))
    .sort()
  const shipped = new Set([...paths, ...others])
  const pageOf = async (path: string) => {
    const file = Bun.file(join(root, path))
    if (!path.endsWith('.md')) return file
    return (await file.text()).replace(LINK, (link, text, target) => {
      const isKept = target === '' || /^https?:/.test(target)
      return isKept || shipped.has(normalize(join(path, '..', target))) ? link : text
    })
  }
  const pages = paths.map(async (path) => [path, await pageOf(path)] as const)
  return Object.fromEntries(await Promise.all(pages))
}
