// The rules of src/: who may import whom, and what a module must not do.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { PATIENCE_MS, root } from './harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const ENTRIES = [
  'main.ts',
  'engine/sqlite/committer.ts',
  'engine/sqlite/backup-thread.ts',
  'cli/import/workbook-worker.ts',
  'web/console/workbooks/workbook-worker.ts',
  'web/console/main.tsx',
  'web/docs/main.tsx',
]

type Import = { readonly from: string; readonly to: string; readonly names: string }

const IMPORT =
  /^(?:import|export)\s+(?:type\s+)?([^'"]*?)\s*from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm

const source = join(root, 'src')
const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(source)].sort()
const textOf = (file: string) => readFileSync(join(source, file), 'utf8')

// A module of ours is named by its path in src/, without `.ts`.
const resolve = (from: string, to: string) =>
  to.startsWith('.') ? normalize(join(dirname(from), to)).replace(/\.tsx?$/, '') : to

const imports: Import[] = files.flatMap((from) =>
  [...textOf(from).matchAll(IMPORT)].map(([, names = '', ...targets]) => ({
    from,
    to: resolve(from, targets.find((target) => target !== undefined) ?? ''),
    names,
  })),
)

// A text.
const isMigration = (to: string) => to.endsWith('.sql') && existsSync(join(source, to))
const isRoot = (file: string) => !file.includes('/') && file !== 'main.ts'
const inFolder = (folder: string) => (file: string) => file.startsWith(`${folder}/`)
const isOurs = (to: string) =>
  existsSync(join(source, `${to}.ts`)) || existsSync(join(source, `${to}.tsx`)) || isMigration(to)
const ofFiles = (matches: (file: string) => boolean) => imports.filter(({ from }) => matches(from))
const show = ({ from, to }: Import) => `${from} imports ${to}`

const nameOf = (file: string) => file.replace(/\.tsx?$/, '')
const folders = new Set(files.map((file) => dirname(file)))
const hasRooms = (folder: string) =>
  [...folders].some((it) => it !== folder && (folder === '.' || it.startsWith(`${folder}/`)))

/** The room of a module: its folder. A module beside other rooms is a room of its own. */
const roomOf = (module: string): string => {
  const folder = dirname(module)
  return hasRooms(folder) ? module : folder
}

/** The circles among pairs of names, each from one to another. */
function circlesOf(pairs: readonly (readonly [string, string])[]): string[] {
  const targets = Map.groupBy(pairs, ([from]) => from)
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (name: string, path: readonly string[]) => {
    if (path.includes(name)) circles.push([...path.slice(path.indexOf(name)), name].join(' > '))
    if (path.includes(name) || done.has(name)) return
    for (const [, to] of targets.get(name) ?? []) visit(to, [...path, name])
    done.add(name)
  }
  for (const name of targets.keys()) visit(name, [])
  return circles
}

test('the test finds the imports of files', () => {
  expect(imports.map(show)).toContain('http/app.ts imports http/tokens/auth')
})

const SYSTEM = /^(node|bun):|^bun$/
test.each([
  ['ROOT', ['ROOT', 'plant/', 'token/', 'change-log/'], /^node:fs$/],
  ['plant', ['request-errors', 'plant/'], /^@sinclair\/typebox$/],
  ['token', ['token/'], /^node:crypto$/],
  ['change-log', ['request-errors', 'plant/', 'change-log/'], null],
  ['files', ['errors', 'files/'], SYSTEM],
  [
    'outbound',
    ['errors', 'redaction', 'plant/json', 'client/', 'outbound/', '../package.json'],
    SYSTEM,
  ],
  ['formats', ['errors', 'plant/', 'formats/'], /^@|^chardetng-wasm/],
  ['engine', ['ROOT', 'plant/', 'token/', 'change-log/', 'files/', 'engine/'], SYSTEM],
  [
    'engine/commit',
    ['request-errors', 'store', 'plant/', 'token/', 'change-log/', 'engine/commit/'],
    /^node:crypto$/,
  ],
  [
    'http',
    ['ROOT', 'plant/', 'token/', 'change-log/', 'http/', '../package.json'],
    /^(elysia|@elysiajs|@sinclair)/,
  ],
  ['daemon/backups', ['ROOT', 'config/', 'files/', 'daemon/backups/'], SYSTEM],
  [
    'daemon/listening',
    ['ROOT', 'config/', 'files/', 'http/', 'daemon/listening/'],
    /^node:|^elysia$/,
  ],
  ['client', ['client/'], null],
  ['web/console', ['web/', 'client/', 'formats/', 'errors', 'plant/plant'], /preact/],
  ['web/docs', ['web/'], /preact|^plantstore\/client$/],
] as const)('%s imports only %j of ours, and %p', (room, allowed, packages) => {
  const wrong = ofFiles(room === 'ROOT' ? isRoot : inFolder(room)).filter(({ to }) =>
    isOurs(to) || to.startsWith('.')
      ? !allowed.some((it) =>
          it === 'ROOT' ? isRoot(`${to}.ts`) : to === it || (it.endsWith('/') && to.startsWith(it)),
        )
      : !packages?.test(to),
  )

  expect(wrong.map(show)).toEqual([])
})

test.each([
  ['controls', []],
  ['workbooks', []],
  ['list', []],
  ['table', ['list', 'controls']],
  ['toolbar', ['list', 'controls', 'workbooks']],
  ['undo', ['list']],
  ['recent', ['editor', 'undo', 'list', 'controls']],
  ['editor', ['undo', 'list', 'controls']],
  ['cells', ['undo', 'editor', 'table', 'list', 'controls']],
  ['bulk', ['undo', 'list', 'controls']],
  ['import', ['undo', 'controls', 'workbooks']],
  ['status', ['controls']],
] as const)('web/console/%s imports only %j of the other rooms of the console', (room, rooms) => {
  const joints = ['main', 'console', 'app', 'page-keys'].map((it) => `web/console/${it}`)
  const allowed: readonly string[] = [room, ...rooms]
  const wrong = ofFiles(inFolder(`web/console/${room}`)).filter(({ to }) => {
    const other = /^web\/console\/([^/]+)\//.exec(to)?.[1]
    return joints.includes(to) || (other !== undefined && !allowed.includes(other))
  })

  expect(files.filter(inFolder(`web/console/${room}`))).not.toEqual([])
  expect(wrong.map(show)).toEqual([])
})

test('formats/ needs only modules that run in a browser, and no web framework', () => {
  const needed = new Set(files.filter(inFolder('formats')).map((file) => file.replace(/\.ts$/, '')))
  const packages = new Set<string>()
  for (const module of needed) {
    for (const { to } of ofFiles((file) => file === `${module}.ts`)) {
      if (isOurs(to)) needed.add(to)
      else packages.add(to)
    }
  }

  expect([...packages].sort()).toEqual([
    '@e965/xlsx',
    '@sinclair/typebox',
    '@zip.js/zip.js/lib/zip-core-native.js',
    'chardetng-wasm/dist/chardetng_wasm_bg.wasm',
  ])
  const bound = [...needed].filter((it) =>
    /\b(Buffer|Bun|process|NodeJS)\./.test(textOf(`${it}.ts`)),
  )
  expect(bound).toEqual([])
})

test('nothing outside test/ imports test/, and nothing that is shipped imports tools/', () => {
  const others = [...new Bun.Glob('{bench,deploy,src,tools}/**/*.{ts,tsx}').scanSync(root)]
    .filter((file) => !file.includes('node_modules'))
    .concat([...new Bun.Glob('*.ts').scanSync(root)])
  const wrong = others.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const isShipped = !/^(bench|tools)\//.test(file)
    return [...text.matchAll(IMPORT)].some(([, , ...targets]) => {
      const to = targets.find((it) => it?.startsWith('.')) ?? '.'
      const path = normalize(join(dirname(file), to))
      return path.startsWith('test/') || (isShipped && path.startsWith('tools/'))
    })
  })

  expect(others).toContain('bench/commands/postgres.ts')
  expect(wrong).toEqual([])
})

test('only engine/engine.ts knows which engines there are, and neither engine knows the other', () => {
  const engineOf = (file: string) => /^engine\/(sqlite|postgres)\//.exec(file)?.[1]
  const wrong = imports.filter(
    ({ from, to }) =>
      engineOf(to) && engineOf(from) !== engineOf(to) && from !== 'engine/engine.ts',
  )

  expect(wrong.map(show)).toEqual([])
})

test('only the daemon joins engine/ and http/, only serve.ts imports it, and only main.ts commands/', () => {
  const importsOf = (folder: string, ...importers: readonly string[]) =>
    imports.filter(
      ({ from, to }) =>
        to.startsWith(`${folder}/`) &&
        ![`${folder}/`, ...importers].some((it) => from.startsWith(it)),
    )
  const wrong = [
    ...importsOf('http', 'daemon/'),
    ...importsOf('daemon', 'cli/commands/serve.ts'),
    ...importsOf('cli/commands', 'main.ts'),
    ...imports.filter(({ to }) => to === 'main'),
  ]

  expect(wrong.map(show)).toEqual([])
})

test('neither files nor rooms import each other in a circle, types included', () => {
  const ours = imports
    .filter(({ from, to }) => isOurs(to) && !ENTRIES.includes(from))
    .map(({ from, to }) => [nameOf(from), to] as const)
  const rooms = ours
    .map(([from, to]) => [roomOf(from), roomOf(to)] as const)
    .filter(([from, to]) => from !== to)

  // The folders of src/, each with all that is below.
  const top = (module: string) => module.split('/')[0] ?? module
  const topRooms = ours
    .filter(([from]) => from !== 'main')
    .map(([from, to]) => [top(from), top(to)] as const)
    .filter(([from, to]) => from !== to)

  expect(circlesOf(ours)).toEqual([])
  expect(circlesOf(rooms)).toEqual([])
  expect(circlesOf(topRooms)).toEqual([])
  expect(rooms).toContainEqual(['http/routes', 'http/conditions'])
})

test('a start on SQLite loads no module of PostgreSQL', () => {
  // A plugin sees each file that is loaded, and Bun's own SQL is a getter that loads it.
  const script = `
    const loaded = []
    Bun.plugin({ name: 'watch', setup: ({ onLoad }) => onLoad({ filter: /engine\\/postgres\\// }, ({ path }) => {
      loaded.push(path)
      return { contents: require('node:fs').readFileSync(path, 'utf8'), loader: 'ts' }
    }) })
    const { openStore } = await import(${JSON.stringify(source)} + '/engine/engine.ts')
    await import(${JSON.stringify(source)} + '/main.ts')
    const { commandUser } = await import(${JSON.stringify(source)} + '/engine/store-user.ts')
    const folder = require('node:fs').mkdtempSync(require('node:os').tmpdir() + '/plantstore-')
    const store = await openStore(folder + '/plants.db', commandUser({ makesDatabase: true }))
    await store.createPlant({ id: 1n, name: 'Rose' })
    await store.close()
    require('node:fs').rmSync(folder, { recursive: true })
    const before = loaded.length
    await openStore('postgres://nobody@127.0.0.1:1/none', commandUser({ makesDatabase: true })).catch(() => {})
    console.log(JSON.stringify({ before, after: loaded.length > 0 }))`
  const { stdout, stderr } = Bun.spawnSync([process.execPath, '-e', script], { cwd: root })

  expect(stderr.toString()).toBe('')
  expect(JSON.parse(stdout.toString())).toEqual({ before: 0, after: true })
})

// Nothing in the client and the pages is a part of the executable's process.
const own = files.filter((file) => !/^(client|web)\//.test(file))
const AROUND = /elysia\/adapter|getSchemaValidator|\.(hooks|routes|event|inference|compile)\b/
test.each([
  ['reads the environment', /\b(process|Bun|meta)\.env\b/, files, ['config/config.ts']],
  ['sends requests', /(?<![.\w])fetch\(/, own, ['outbound/request.ts']],
  ['ends the process', /\bprocess\.exit(Code)?\b/, files, ['main.ts']],
  ['works around Elysia', AROUND, files.filter(inFolder('http')), ['http/elysia.ts']],
  ['has a default export or re-exports others', /^export (default|\*)/m, files, []],
])('no module %s but those named', (_, pattern, some, named) => {
  expect(some.filter((file) => pattern.test(textOf(file)))).toEqual(named)
})

test('importing a module does nothing', () => {
  // In another process, where every function that acts is watched.
  const modules = files.filter((file) => !ENTRIES.includes(file))
  const script = `
    const acts = []
    const watch = (object, ...names) => {
      for (const name of names) {
        const real = object[name]
        object[name] = (...args) => (acts.push(name), real.apply(object, args))
      }
    }
    await import('elysia')
    await import('@elysiajs/bearer')
    watch(globalThis, 'setTimeout', 'setInterval', 'setImmediate', 'fetch', 'Worker')
    watch(Date, 'now')
    watch(performance, 'now')
    watch(Bun, 'serve', 'spawn', 'spawnSync', 'write', 'listen', 'connect', 'sleep')
    watch(process, 'on', 'once', 'exit')
    watch(process.stdout, 'write')
    watch(process.stderr, 'write')
    const report = {}
    for (const file of ${JSON.stringify(modules)}) {
      await import(${JSON.stringify(source)} + '/' + file)
      await 0
      if (acts.length > 0) report[file] = acts.splice(0)
    }
    console.log(JSON.stringify(report))`
  const { stdout, stderr } = Bun.spawnSync([process.execPath, '-e', script], { cwd: root })

  expect(stderr.toString()).toBe('')
  expect(JSON.parse(stdout.toString())).toEqual({})
})
