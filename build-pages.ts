// Builds the pages of src/web into dist/web, each file compressed once, unless they are up to date: `bun build-pages.ts`.
import { existsSync, readdirSync, renameSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { BuildMetafile } from 'bun'

const root = import.meta.dir
const source = join(root, 'src/web')
const built = join(root, 'dist/web')
const table = join(built, 'pages.js')

const PAGES = ['console', 'docs'] as const
// The files of a page that are not bundled, and what bundling makes.
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
}

const typeOf = (name: string): string | undefined => TYPES[name.slice(name.lastIndexOf('.'))]

type Built = { readonly name: string; readonly bytes: Uint8Array }

const SCRIPT = /^<script type="module".*$/m

/** The files that a script imports before it runs. */
const neededBy = (script: string, metafile: BuildMetafile | undefined): string[] =>
  (metafile?.outputs[script]?.imports ?? [])
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => path.replace('./', ''))

/** Has a page ask for the files that its script imports together with the script. */
const preload = (page: string, needed: readonly string[]) => (script: string) =>
  [...needed.map((name) => `<link rel="modulepreload" href="${page}/${name}">`), script].join('\n')

const OPTIONS = {
  target: 'browser',
  minify: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  metafile: true,
} as const

/**
 * Bundles a page, and the threads that it starts: one file each, so that they share nothing that a page loads first.
 */
const builds = (folder: string, names: readonly string[]) => {
  const pathsOf = (wanted: RegExp) =>
    names.filter((name) => wanted.test(name)).map((name) => join(folder, name))
  const threads = pathsOf(/-worker\.ts$/)
  return Promise.all([
    Bun.build({
      ...OPTIONS,
      entrypoints: pathsOf(/^main\.tsx?$|^[^/]*\.css$/),
      // What is imported on demand is a file of its own.
      splitting: true,
      naming: { entry: '[name].[ext]', chunk: 'part-[hash].[ext]' },
    }),
    ...threads.map((path) =>
      Bun.build({ ...OPTIONS, entrypoints: [path], naming: { entry: '[name].[ext]' } }),
    ),
  ])
}

/** The files of a page: `main.tsx`, `style.css` and threads bundled, others as they are. */
async function bundle(page: string): Promise<{ files: Built[]; inputs: Record<string, unknown> }> {
  const folder = join(source, page)
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const built = await builds(folder, names)
  const bundled = built
    .flatMap(({ outputs }) => outputs)
    .map(async (output) => ({
      name: output.path.replace(/^.*\//, ''),
      bytes: new Uint8Array(await output.arrayBuffer()),
    }))
  const needed = neededBy('./main.js', built[0].metafile)
  const copied = names
    .filter((name) => /^[^/]*\.(html|svg)$/.test(name))
    .map(async (name) => {
      const text = await Bun.file(join(folder, name)).text()
      return { name, bytes: Buffer.from(text.replace(SCRIPT, preload(page, needed))) }
    })
  const inputs = Object.assign({}, ...built.map(({ metafile }) => metafile?.inputs))
  return { files: await Promise.all([...bundled, ...copied]), inputs }
}

const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)]

// Threads of Bun compress, so that every core does.
const compressions = {
  br: (bytes: Uint8Array) =>
    toBrotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gz: (bytes: Uint8Array) => toGzip(bytes, { level: 9 }),
}

/** Writes a file whole or not at all, and only where it changes: daemons and other builds may read it. */
async function put(path: string, bytes: Uint8Array): Promise<void> {
  if (existsSync(path) && Buffer.compare(await Bun.file(path).bytes(), bytes) === 0) return
  const temporary = `${path}.${crypto.randomUUID()}`
  await Bun.write(temporary, bytes)
  renameSync(temporary, path)
}

async function writeCompressed(page: string, { name, bytes }: Built): Promise<void> {
  for (const [extension, compress] of Object.entries(compressions)) {
    await put(join(built, `${page}/${name}.${extension}`), await compress(bytes))
  }
  process.stdout.write('.')
}

/** Writes a page's files; returns the lines of the table that imports them. */
async function write(page: string, files: readonly Built[]) {
  const imports: string[] = []
  const rows: string[] = []
  const sorted = files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  await Promise.all(sorted.map((file) => writeCompressed(page, file)))
  for (const { name, bytes } of sorted) {
    const type = typeOf(name)
    if (!type) throw new Error(`${page}/${name}: unknown type`)
    const variables: string[] = []
    for (const extension of Object.keys(compressions)) {
      const file = `${page}/${name}.${extension}`
      const variable = `${page}${imports.length}`
      imports.push(`import ${variable} from './${file}' with { type: 'file' }`)
      variables.push(variable)
    }
    const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('base64url').slice(0, 22)
    const fields = JSON.stringify({ page, name, type, hash }).slice(0, -1)
    rows.push(`  ${fields},"brotli":${variables[0]},"gzip":${variables[1]}},`)
  }
  return { imports, rows }
}

/** A hash of the names and contents of files. */
async function hashOf(paths: readonly string[]): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256', Bun.version)
  for (const path of paths.toSorted()) {
    const bytes = await Bun.file(path).bytes()
    hasher.update(`${relative(root, path)}\0${bytes.length}\0`).update(bytes)
  }
  return hasher.digest('hex')
}

const filesIn = (folder: string, pattern: string): string[] =>
  [...new Bun.Glob(pattern).scanSync(folder)].map((name) => join(folder, name))

// Pages import other rooms of the source; bun.lock has the versions of packages.
const hashOfSource = () =>
  hashOf([import.meta.path, join(root, 'bun.lock'), ...filesIn(join(root, 'src'), '**/*')])
const hashOfBuilt = () => hashOf(filesIn(built, '**/*.{br,gz}'))

/** The first line of the table of files: what they were built from, and what they were then. */
const markOf = async (sourceHash: string) => `// ${sourceHash} ${await hashOfBuilt()}\n`

/** Builds the pages unless they are there, built from the same source. */
export async function updatePages(): Promise<void> {
  const before = existsSync(table) ? await Bun.file(table).text() : ''
  if (before !== '' && before.startsWith(await markOf(await hashOfSource()))) return
  await buildPages()
}

/** Builds every page of src/web; resolves to the sources that were bundled, as a metafile names them. */
export async function buildPages(): Promise<Record<string, unknown>> {
  process.stdout.write('building the pages:')
  const sourceHash = await hashOfSource()
  const imports: string[] = []
  const rows: string[] = []
  const sources: Record<string, unknown> = {}
  for (const page of PAGES) {
    process.stdout.write(` ${page} `)
    const { files, inputs } = await bundle(page)
    const lines = await write(page, files)
    imports.push(...lines.imports)
    rows.push(...lines.rows)
    Object.assign(sources, inputs)
  }
  process.stdout.write('\n')
  const lines = [...imports, 'export const pages = [', ...rows, ']', '']
  await put(table, Buffer.from((await markOf(sourceHash)) + lines.join('\n')))
  return sources
}

if (import.meta.main) await updatePages()
