// The README and docs/ must stay true: what they list is compared with the code.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { releasePages } from '../deploy/pages'
import packageJson from '../package.json'
import { forward } from '../src/cli/commands/forward'
import { FAMILIES } from '../src/metrics'
import { EXIT_CODES } from '../src/program'
import { ERRORS } from '../src/request-errors'
import { currentPages } from '../tools/docs'
import { storeFolder } from './harness/commands'
import { PATIENCE_MS, program, root, startDaemon, temporaryFolder } from './harness/daemon'
import { run } from './harness/process'

setDefaultTimeout(PATIENCE_MS)

/** A row of bench/results; figures are [least, median, most]. */
type Row = {
  readonly server: string
  readonly executable: string
  readonly connections: number
} & Readonly<
  Record<
    'ratio' | 'perSecond' | 'cpu' | 'serverCpu' | 'startMs' | 'startCpu' | 'resident',
    readonly number[]
  >
>

const pages = [
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...[...new Bun.Glob('docs/*.md').scanSync(root)].sort(),
]

const errorNumbers = [...new Set(Object.values(ERRORS).map(({ number }) => String(number)))]

const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The rows of all tables of a page, as their cells; heads included. */
const rowsOf = (file: string): string[][] => rowsIn(read(file))

const rowsIn = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^[|\s:-]+$/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )

/** The section of a page below a heading. */
function sectionOf(file: string, heading: string): string {
  const [, rest = ''] = read(file).split(`\n## ${heading}\n`)
  return rest.split('\n## ')[0] ?? ''
}

const codeOf = (text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)

const measured = (name: string): readonly Row[] =>
  JSON.parse(read(`bench/results/${name}.json`)).rows
const at = (rows: readonly Row[], server: string, connections: number) =>
  rows.find((row) => row.server === server && row.connections === connections)
const median = (range: readonly number[] | undefined): number => range?.[1] ?? Number.NaN
const times = (ratio: readonly number[] | undefined) => median(ratio).toFixed(2)

const SYMPTOMS = sectionOf('docs/operating.md', 'Something is wrong')

const unique = (items: Iterable<string>): string[] => [...new Set(items)].sort()

describe('the README', () => {
  test('runs and tests with the Bun of package.json', () => {
    const [, version] = packageJson.packageManager.split('@')
    for (const script of ['start', 'test']) {
      expect(read('README.md')).toContain(`\nnpx --yes bun@${version} run ${script} `)
    }
  })

  test('needs no Bun but that of npx', () => {
    expect(read('README.md').match(/^.*(?<!npx --yes )\bbun(@[\d.]+)? run.*$/gm)).toBeNull()
  })

  test('has the measured figures of bench/results', () => {
    const ratioOf = (server: string) => times(at(measured('creates'), server, 64)?.ratio)
    const start = measured('start').find(({ executable }) => executable === 'plantstore')
    const ms = Math.round(median(start?.startMs))
    const text = read('README.md').replace(/\s+/g, ' ')

    expect(text).toContain(
      `plantstore ${ratioOf('plantstore')}, axum on Rust with group commit ${ratioOf('axum on Rust, group commit')}, Fastify with better-sqlite3 ${ratioOf('Fastify on Node.js, better-sqlite3')}. The first answer comes ${ms} ms after exec.`,
    )
  })

  test('links to every page of docs/', () => {
    const missing = pages.filter((page) => !read('README.md').includes(`(${page})`))

    expect(missing).toEqual(['README.md'])
  })
})

const rate = (row: Row | undefined) =>
  (Math.round(median(row?.perSecond) / 100) * 100).toLocaleString('en')
const us = (range: readonly number[] | undefined) => `${median(range).toFixed(1)} us`
const ratios =
  (...counts: readonly number[]) =>
  ({ server }: Row, rows: readonly Row[]) => [
    server,
    ...counts.map((count) => times(at(rows, server, count)?.ratio)),
  ]

test.each([
  ['Creates', ratios(1, 64, 256)],
  ['Reads', ratios(1, 64)],
  [
    'PostgreSQL',
    ({ server }: Row, rows: readonly Row[]) => [
      server,
      ...[1, 64, 256].map((count) => rate(at(rows, server, count))),
      us(at(rows, server, 64)?.cpu),
      us(at(rows, server, 64)?.serverCpu),
    ],
  ],
  [
    'Start',
    ({ executable, startMs, startCpu, resident }: Row) => [
      executable,
      `${Math.round(median(startMs))} ms`,
      `${Math.round(median(startCpu) / 1000)} ms`,
      `${Math.round(median(resident) / 1e6)} MB`,
    ],
  ],
])('docs/benchmarks.md has the measured figures below "%s"', (heading, cellsOf) => {
  const rows = measured(heading.toLowerCase().replace('postgresql', 'postgres'))
  const shown = rowsIn(sectionOf('docs/benchmarks.md', heading)).slice(1)

  expect(unique(shown.map(String))).toEqual(unique(rows.map((row) => String(cellsOf(row, rows)))))
})

test('pages name only scripts of package.json, docs/benchmarks.md those of bench/', () => {
  const ofBench = JSON.parse(read('bench/package.json')).scripts
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/bun(?:@[\d.]+)? run (--cwd bench )?([a-z][\w:-]*)/g)].map(
      ([, cwd, script = '']) => {
        const scripts = cwd || page === 'docs/benchmarks.md' ? ofBench : packageJson.scripts
        return { page, script, isKnown: Object.hasOwn(scripts, script) }
      },
    ),
  )

  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(({ isKnown }) => !isKnown)).toEqual([])
})

test('the README has every operation, and no other', async () => {
  using folder = storeFolder()
  await using daemon = await folder.serve()
  const { paths } = (await (await fetch(`${daemon.url}/openapi.json`)).json()) as {
    paths: Record<string, object>
  }
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  // A code is an operation, a path that is only read, or a method of the operation that follows.
  const inReadme = codeOf(sectionOf('README.md', 'API').replace(/(?<=`[A-Z]+)`, `(?=[A-Z])/g, '+'))
    .map((code) => code.replace(/\?.*/, ''))
    .flatMap((code) => {
      const [, methods = 'GET', path] = /^(?:([A-Z+]+) )?(\/\S*)$/.exec(code) ?? []
      return path === undefined ? [] : methods.split('+').map((method) => `${method} ${path}`)
    })

  expect(unique(inReadme)).toEqual(unique(served))
})

test('docs/errors.md has every error number and no other', () => {
  const numbers = rowsOf('docs/errors.md').flatMap(([cell = '']) => cell.match(/^\d{5}$/g) ?? [])

  expect(numbers).toEqual(errorNumbers)
})

test('pages have the options and commands of the program; else run: bun run docs', async () => {
  for (const [path, text] of await currentPages()) expect(readFileSync(path, 'utf8')).toBe(text)
})

test('a command that makes a secret writes nothing if openssl fails', () => {
  const commands = [...pages.map(read), forward.help].flatMap(
    (text) => text.match(/^.*openssl rand.*(>|install).*$/gm) ?? [],
  )

  expect(commands.length).toBeGreaterThan(3)
  for (const command of commands) {
    expect(command).toMatch(/(secret|key)=\$\(openssl rand -\w+ 32\) && echo "(whsec_)?\$\1" [>|]/)
  }
})

test('docs/commands.md has every exit code', () => {
  const table = sectionOf('docs/commands.md', 'Exit codes')
  const documented = [...table.matchAll(/^\| ([\d, ]+) \|/gm)]
    .flatMap(([, codes = '']) => codes.split(', '))
    .map(Number)

  for (const code of Object.values(EXIT_CODES)) expect(documented).toContain(code)
})

test('every way to run a daemon unattended starts it again after exit code 74', () => {
  const unit = read('deploy/plantstore.service')
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]

  // By default, systemd gives up after five starts in ten seconds.
  const settings = ['Restart', 'RestartSec', 'StartLimitIntervalSec'].map(setting)
  expect(settings).toEqual(['on-failure', '1', '0'])
  expect(setting('RestartPreventExitStatus')?.split(' ')).toEqual([String(EXIT_CODES.usage)])
  const runs = pages.flatMap((page) => read(page).match(/docker run .*plantstore$/gm) ?? [])
  expect(runs).not.toBeEmpty()
  for (const line of runs) expect(line).toContain(' --restart unless-stopped ')
  for (const file of ['compose.yaml', 'compose.scaling.yaml']) {
    const { services } = Bun.YAML.parse(read(`deploy/${file}`)) as { services: object }
    const own = Object.entries(services).filter(([name]) => name.startsWith('plantstore'))
    expect(own).not.toBeEmpty()
    for (const [, service] of own) expect(service).toMatchObject({ restart: 'unless-stopped' })
  }
})

test('docs/operating.md has every event of the log, and no other', () => {
  const files = [...new Bun.Glob('src/**/*.ts').scanSync(root)].sort()
  // Not the list of levels itself.
  const EVENT = /'(info|warn|error)',\s*'(?!warn'|error')([\w-]+)'/g
  const logged = unique(
    files.flatMap((file) =>
      [...read(file).matchAll(EVENT)].map(([, level, event]) => `${level} ${event}`),
    ),
  )
  const documented = sectionOf('docs/operating.md', 'Log')
    .split(/^(?=\| (?:info|warn|error) \|)/m)
    .slice(1)
    .flatMap((table) => {
      const [[level = ''] = [], ...rows] = rowsIn(table)
      return rows.flatMap(([events = '']) => codeOf(events).map((event) => `${level} ${event}`))
    })

  expect(documented.toSorted()).toEqual(logged)
})

test('the table of symptoms and docs/scaling.md quote messages of the program', () => {
  const sources = [...new Bun.Glob('src/**/*.ts').scanSync(root)].map(read).join('\n')
  const quoted = [SYMPTOMS, read('docs/scaling.md')].flatMap((text) =>
    [...text.matchAll(/"([a-z][^"\n]+)"/g)].map(([, message = '']) => message),
  )

  expect(quoted).not.toBeEmpty()
  expect(quoted.filter((text) => !sources.includes(text))).toEqual([])
})

test('the table of symptoms names events, metrics and error numbers that exist', () => {
  const events = rowsIn(sectionOf('docs/operating.md', 'Log')).flatMap(([name = '']) =>
    codeOf(name),
  )
  const known = [...events, ...Object.keys(FAMILIES)]
  const [, ...rows] = rowsIn(SYMPTOMS)
  const named = rows.flatMap(([, events = '', metrics = '']) => [
    ...codeOf(events),
    ...codeOf(metrics),
  ])
  const numbers = rows.flatMap(([symptom = '']) => symptom.match(/\b\d{5}\b/g) ?? [])

  expect(named.length).toBeGreaterThan(20)
  expect(numbers.length).toBeGreaterThan(5)
  expect(named.filter((name) => !known.includes(name))).toEqual([])
  expect(numbers.filter((number) => !errorNumbers.includes(number))).toEqual([])
})

test('every metric that a page names is served', () => {
  const named = pages.flatMap(
    (page) => read(page).match(/(?<=`)(?:plantstore|process)_[a-z]+_\w+(?=`)/g) ?? [],
  )

  expect(unique(named).filter((name) => !Object.hasOwn(FAMILIES, name))).toEqual([])
})

/** The commands of a page, each group with what it prints there. */
const examplesOf = (page: string) =>
  [...read(page).matchAll(/```sh\n([^`]*?)```\n\n```text\n(.*?)```/gs)].map(
    ([, commands = '', printed = '']) => ({ commands, printed }),
  )

/** What commands print, standard error included. */
async function printedBy(commands: string, cwd: string): Promise<string> {
  const quoted = program.map((word) => `'${word}'`).join(' ')
  const script = `exec 2>&1\nplantstore() { ${quoted} "$@"; }\n${commands}`
  return (await run(['bash', '-c', script], { cwd })).out
}

test('docs/import.md shows what its commands print', async () => {
  using folder = temporaryFolder()
  const database = join(realpathSync(folder.path), 'plants.db')
  cpSync(join(root, 'test/real-world'), folder.path, { recursive: true })
  const examples = examplesOf('docs/import.md')

  for (const { commands, printed } of examples) {
    const shown = await printedBy(commands, folder.path)
    expect(shown.replace(database, 'plants.db')).toBe(printed)
  }

  expect(examples.length).toBeGreaterThan(5)
})

test.skipIf(!Bun.which('curl'))('docs/start.md shows what its commands print', async () => {
  using folder = temporaryFolder()
  await using daemon = await startDaemon({ cwd: folder.path })
  const examples = examplesOf('docs/start.md')

  for (const { commands, printed } of examples) {
    const own = commands.replace(/^token=.*/, `token=${daemon.token} url=${daemon.url}`)
    expect(await printedBy(own, folder.path)).toBe(printed)
  }

  expect(examples.length).toBe(2)
})

test("a release's pages have no link to a file that it lacks", async () => {
  const files = await releasePages(['LICENSE'])
  const links = Object.entries(files).flatMap(([page, text]) =>
    typeof text !== 'string'
      ? []
      : [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, link = '']) => ({ page, link })),
  )
  const paths = links.filter(({ link }) => !/^https?:/.test(link))
  const isThere = ({ page, link }: { page: string; link: string }) =>
    ['LICENSE', ...Object.keys(files)].includes(join(page, '..', link))

  expect(paths.length).toBeGreaterThan(50)
  expect(paths.filter((path) => !isThere(path))).toEqual([])
  for (const page of ['architecture', 'benchmarks', 'decisions'])
    expect(Object.keys(files)).not.toContain(`docs/${page}.md`)
})

test.skipIf(!Bun.which('curl'))('each curl line of docs/api.md works as pasted', async () => {
  using folder = temporaryFolder()
  await using daemon = await startDaemon({ cwd: folder.path })
  await daemon.create(1, 'Monstera deliciosa', 'aroid')
  const blocks = [...read('docs/api.md').matchAll(/```sh\n(.*?)```/gs)].map(([, text = '']) => text)
  const lines = blocks.flatMap((text) => text.match(/^curl (?:.*\\\n)*.*$/gm) ?? [])

  for (const line of lines) {
    const own = line.replace('pst_…', daemon.token).replace('http://127.0.0.1:3000', daemon.url)
    expect({ line, ...(await run(['sh', '-c', own.replace('curl', 'curl -fsS')])) }).toMatchObject({
      line,
      code: 0,
    })
  }

  for (const path of ['/tags', '/plants?tagged=', '/plants/batch', '/status'])
    expect(lines.some((line) => line.includes(path))).toBeTrue()
})

test('docs/durability.md names every fault, and no other', () => {
  const { stdout } = Bun.spawnSync([process.execPath, 'test/slow/faults/run.ts', '--list'], {
    cwd: root,
  })
  const faults = stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
  const table = rowsOf('docs/durability.md').map(([, proof = '']) => proof)
  const named = codeOf(table.join(' ')).filter((code) => /^[a-z0-9-]+$/.test(code))

  expect(unique(named)).toEqual(unique(faults))
})

test('docs/architecture.svg has every folder of src/', () => {
  const folders = unique(
    [...new Bun.Glob('src/**/*.ts').scanSync(root)].map((file) => dirname(file)),
  ).filter((folder) => folder !== 'src')
  const picture = read('docs/architecture.svg')

  for (const folder of folders) expect(picture).toContain(`>${folder.split('/').at(-1)}/<`)
})

describe.each(pages)('%s', (page) => {
  // A path of the project, or of src/ for short; each has a slash or ends in .ts.
  const paths = codeOf(read(page)).filter(
    (code) =>
      /^[\w.-]+(\/[\w.-]+)*\/?$/.test(code) &&
      /\.(ts|md|json|svg)$|^(src|test|docs|bench)\//.test(code),
  )

  test('names only files and folders that exist', () => {
    const missing = paths.filter(
      (path) =>
        ![root, join(root, 'src'), join(root, dirname(page))].some((base) =>
          existsSync(join(base, path)),
        ),
    )

    expect(missing).toEqual([])
  })

  test('has links that lead somewhere', () => {
    const toAnchor = (heading: string) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .trim()
        .replaceAll(' ', '-')
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false
      const [path = '', anchor] = link.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(root, file))) return true
      const headings = [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
      return anchor !== undefined && !headings.map(toAnchor).includes(anchor)
    })

    expect(broken).toEqual([])
  })
})
