// The rules of src/: who may import whom, and what a module must not do.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { root } from './harness/daemon'

const ENTRIES = [
  'main.ts',
  'engine/sqlite/worker.ts',
  'engine/sqlite/check-worker.ts',
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
const isSystem = (to: string) => to.startsWith('node:') || builtinModules.includes(to)
const ofFiles = (matches: (file: string) => boolean) => imports.filter(({ from }) => matches(from))
const show = ({ from, to }: Import) => `${from} imports ${to}`

describe('the source', () => {
  test('the test finds the files and their imports', () => {
    expect(files).toContain('http/app.ts')
    expect(imports.map(show)).toContain('http/app.ts imports http/auth')
    expect(imports.map(show)).toContain('engine/sqlite/connection.ts imports bun:sqlite')
  })

  test.each([
    ['ROOT', ['ROOT', 'plant/']],
    ['plant', ['errors', 'plant/']],
    ['files', ['errors', 'files/']],
    ['formats', ['errors', 'plant/', 'formats/']],
    ['engine', ['ROOT', 'plant/', 'files/', 'engine/']],
    ['http', ['ROOT', 'plant/', 'http/', '../package.json']],
    ['sockets', ['ROOT', 'files/', 'sockets/']],
    ['backups', ['ROOT', 'files/', 'cli/command', 'backups/']],
    ['daemon', ['ROOT', 'sockets/', 'cli/command', 'daemon/']],
    ['client', ['client/']],
    ['requests', ['errors', 'plant/json', 'client/', 'requests/', '../package.json']],
    ['web/console', ['web/', 'client/', 'formats/', 'errors', 'plant/plant']],
    ['web/docs', ['web/']],
  ] as const)('%s imports only %j of ours', (room, allowed) => {
    const wrong = ofFiles(room === 'ROOT' ? isRoot : inFolder(room)).filter(
      ({ to }) =>
        (isOurs(to) || to.startsWith('.')) &&
        !allowed.some((it) =>
          it === 'ROOT' ? isRoot(`${to}.ts`) : to === it || (it.endsWith('/') && to.startsWith(it)),
        ),
    )

    expect(wrong.map(show)).toEqual([])
  })

  test('what formats/ needs runs in a browser, and is no web framework', () => {
    const needed = new Set(
      files.filter(inFolder('formats')).map((file) => file.replace(/\.ts$/, '')),
    )
    const packages = new Set<string>()
    for (const module of needed) {
      for (const { to } of ofFiles((file) => file === `${module}.ts`)) {
        if (isOurs(to)) needed.add(to)
        else packages.add(to)
      }
    }

    expect([...packages]).toEqual(['@sinclair/typebox', 'read-excel-file/universal'])
    const bound = [...needed].filter((it) =>
      /\b(Buffer|Bun|process|NodeJS)\./.test(textOf(`${it}.ts`)),
    )
    expect(bound).toEqual([])
  })

  test('http/ imports no database, no system module and no options', () => {
    const wrong = ofFiles(inFolder('http')).filter(
      ({ to }) => isSystem(to) || to.startsWith('bun:') || to.startsWith('cli/'),
    )

    expect(wrong.map(show)).toEqual([])
  })

  test('nothing outside test/ imports it, and what is shipped imports nothing of tools/', () => {
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

  test('engine/ imports no packages', () => {
    const wrong = ofFiles(inFolder('engine')).filter(
      ({ to }) => !isOurs(to) && !isSystem(to) && !to.startsWith('bun:'),
    )

    expect(wrong.map(show)).toEqual([])
  })

  test('only serve.ts imports http/, and only main.ts imports commands/', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        (to.startsWith('http/') && !from.startsWith('http/') && from !== 'cli/commands/serve.ts') ||
        (to.startsWith('cli/commands/') && from !== 'main.ts') ||
        to === 'main',
    )

    expect(wrong.map(show)).toEqual([])
  })

  test('imports have no cycles, types included', () => {
    const targets = (from: string) =>
      imports
        .filter((it) => it.from.replace(/\.tsx?$/, '') === from && isOurs(it.to))
        .map(({ to }) => to)
    const done = new Set<string>()
    const circles: string[] = []
    const visit = (file: string, path: readonly string[]) => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' > '))
      if (path.includes(file) || done.has(file)) return
      for (const to of targets(file)) visit(to, [...path, file])
      done.add(file)
    }
    for (const file of files) visit(file.replace(/\.tsx?$/, ''), [])

    expect(circles).toEqual([])
  })

  test('group-commit.ts knows no database: it imports errors.ts, change.ts and row.ts', () => {
    const wrong = ofFiles((file) => file === 'engine/group-commit.ts').filter(
      ({ to }) => !['errors', 'engine/change', 'engine/row'].includes(to),
    )

    expect(wrong.map(show)).toEqual([])
  })

  test('a start on SQLite loads nothing of PostgreSQL', () => {
    // A plugin sees each file that is loaded, and Bun's own SQL is a getter that loads it.
    const script = `
      const loaded = []
      Bun.plugin({ name: 'watch', setup: ({ onLoad }) => onLoad({ filter: /engine\\/postgres\\// }, ({ path }) => {
        loaded.push(path)
        return { contents: require('node:fs').readFileSync(path, 'utf8'), loader: 'ts' }
      }) })
      const { openStore } = await import(${JSON.stringify(source)} + '/engine/engine.ts')
      await import(${JSON.stringify(source)} + '/main.ts')
      const { command } = await import(${JSON.stringify(source)} + '/engine/role.ts')
      const folder = require('node:fs').mkdtempSync(require('node:os').tmpdir() + '/plantstore-')
      const store = await openStore(folder + '/plants.db', command({ makesDatabase: true }))
      await store.createPlant({ id: 1n, name: 'Rose' })
      await store.close()
      require('node:fs').rmSync(folder, { recursive: true })
      const before = loaded.length
      await openStore('postgres://nobody@127.0.0.1:1/none', command({ makesDatabase: true })).catch(() => {})
      console.log(JSON.stringify({ before, after: loaded.length > 0 }))`
    const { stdout, stderr } = Bun.spawnSync([process.execPath, '-e', script], { cwd: root })

    expect(stderr.toString()).toBe('')
    expect(JSON.parse(stdout.toString())).toEqual({ before: 0, after: true })
  })

  test('only config.ts reads the environment', () => {
    const readers = files.filter((file) => /\b(process|Bun|meta)\.env\b/.test(textOf(file)))

    expect(readers).toEqual(['cli/config.ts'])
  })

  test('only requests/ sends requests of the executable', () => {
    const senders = files.filter(
      (file) => !/^(client|web)\//.test(file) && /(?<![.\w])fetch\(/.test(textOf(file)),
    )

    expect(senders.length).toBeGreaterThan(0)
    expect(senders.filter((file) => !inFolder('requests')(file))).toEqual([])
  })

  test('only main.ts ends the process', () => {
    expect(files.filter((file) => /\bprocess\.exit(Code)?\b/.test(textOf(file)))).toEqual([
      'main.ts',
    ])
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

  test('no module has a default export or re-exports others', () => {
    const wrong = files.filter((file) => /^export (default|\*)/m.test(textOf(file)))

    expect(wrong).toEqual([])
  })
})
