// Takes the steps of docs/recipes.md in a copy of the source, and looks for what is new everywhere.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { INSTALLATIONS, isInstalled } from '../../../tools/postgres/server'
import {
  builtProgram,
  type Daemon,
  type RunOptions,
  root,
  runProgram,
  startDaemon,
  TOKEN,
  temporaryFolder,
} from '../../harness/daemon'
import { ownServer } from '../../harness/own-server'
import { run } from '../../harness/process'
import { copySource } from '../../harness/source-copy'
import { until } from '../../harness/until'

// It builds the executable.
setDefaultTimeout(300_000)
// The tests of every other folder run in the copy, too.
const QUICK_SUITE_MS = 1_200_000

/** A step of the page: what a file has before and after it. */
type Step = { readonly file: string; readonly before: string; readonly after: string }

const page = readFileSync(join(root, 'docs/recipes.md'), 'utf8')

/** The steps of a recipe, each a block of `diff` whose first line names the file. */
const stepsIn = (recipe: string): readonly Step[] =>
  [...recipe.matchAll(/```diff\n--- (\S+)\n(.*?)```/gs)].map(([, file = '', block = '']) => {
    const lines = block.split(/(?<=\n)/)
    const without = (sign: string) =>
      lines
        .filter((line) => !line.startsWith(sign))
        .map((line) => line.slice(1))
        .join('')
    return { file, before: without('+'), after: without('-') }
  })

/** In the order of the page. */
const recipes = page.split('\n## ').slice(1).map(stepsIn)

/** The code that uses the error of the page. */
const USE_OF_ERROR: readonly Step[] = [
  {
    file: 'src/http/routes/plants.ts',
    before: '  if (tagged === undefined) return { ...filter, names }\n',
    after: `  if (filter.named !== undefined && names) throw new RequestError('contradictory')
  if (tagged === undefined) return { ...filter, names }\n`,
  },
  {
    file: 'src/http/routes/plants.ts',
    before: "headers: ['link'],\n            successes: () => ({ 200: PlantPage }),\n",
    after:
      "headers: ['link'],\n            refusals: ['contradictory'],\n            successes: () => ({ 200: PlantPage }),\n",
  },
]

function take(copy: string, { file, before, after }: Step): void {
  const path = join(copy, file)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const places = before === '' ? 1 : text.split(before).length - 1
  if (places !== 1 || (before === '') === existsSync(path)) {
    throw new Error(`${file} has the lines of the page ${places} times:\n${before}`)
  }
  writeFileSync(
    path,
    text.replace(before, () => after),
  )
}

let copy = ''

const inCopy = (...words: readonly string[]) => run([process.execPath, ...words], { cwd: copy })

beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), 'plantstore-recipe-'))
  copySource(copy)
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  mkdirSync(join(copy, 'dist'))
  for (const step of [...recipes.flat(), ...USE_OF_ERROR]) take(copy, step)
  await inCopy('tools/docs.ts')
  const built = await inCopy('build.ts')
  if (built.code !== 0) throw new Error(built.err)
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

test('each recipe concerns few files', () => {
  const files = recipes.map((steps) => new Set(steps.map(({ file }) => file)).size)
  expect(files).toEqual([7, 7, 4, 4, 2, 2])
})

test.each(['.', 'src/web/console', 'src/web/docs'])(
  'the project %s compiles with what is new',
  async (project) => {
    expect(await inCopy('x', 'tsc', '-p', project)).toMatchObject({ out: '', code: 0 })
  },
)

test(
  'after the recipes, no test of the quick suite fails',
  async () => {
    const { code, err } = await inCopy('test', '--timeout=60000', '--parallel=2', './test')

    const failed = err.match(/^\(fail\).*/gm)
    expect({ code, failed }).toEqual({ code: 0, failed: null })
    expect(Number(/^ (\d+) pass$/m.exec(err)?.[1])).toBeGreaterThan(1500)
  },
  QUICK_SUITE_MS,
)

test('the program lists and completes the command', async () => {
  const program = [join(copy, 'dist/plantstore')]
  const help = await runProgram(['help'], { program })
  const completion = await runProgram(['completion', 'bash'], { program })

  expect(help.out).toMatch(/^ {2}count +print the number of plants$/m)
  expect(completion.out).toContain(' count ')
})

const PLANT = { id: 2, name: 'Swiss cheese plant', tag: 'aroid', species: 'Monstera deliciosa' }
const { id: _, ...FIELDS } = PLANT

type Page = { readonly plants: readonly object[] }
type Changes = { readonly changes: readonly { readonly after: object | null }[] }
type Operation = {
  readonly parameters: readonly { readonly name: string }[]
  readonly responses: Readonly<Record<string, object>>
}
type Description = {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: { species: object } }>>
  }
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>
}

const read = async <T = object>(daemon: Daemon, path: string): Promise<T> =>
  (await (await daemon.fetch(path)).json()) as T

/** The commands and daemons on a database of one engine, which `makeDatabase` makes before the first test. */
function createEngine(makeDatabase: (name: string) => Promise<string>) {
  let database = ''
  // The built executable without the field is older.
  const options = (): RunOptions => ({
    program: [join(copy, 'dist/plantstore')],
    env: { PLANTSTORE_DATABASE: database },
  })
  beforeAll(async () => {
    database = await makeDatabase('plants')
    const old = { ...options(), program: builtProgram(), args: ['--keep-changes', '30d'] }
    await using daemon = await startDaemon(old)
    await daemon.fetch('/plants', { json: { id: 1, name: 'Rose', tag: 'shrub', species: 'x' } })
    await daemon.fetch('/plants/1', { method: 'PATCH', json: { name: 'Dog rose' } })
    await daemon.stop()
  })
  return {
    options,
    command: (...args: readonly string[]) => runProgram(args, options()),
    serve: () => startDaemon({ ...options(), args: ['--keep-changes', '30d', '--software', 'x'] }),
    importText: (text: string, ...args: readonly string[]) =>
      runProgram(['import', '-', '--format', 'csv', ...args], { ...options(), stdin: text }),
  }
}

// The newest one: an older one differs in nothing that a field concerns.
const installation = INSTALLATIONS.findLast(isInstalled)
const startServer = installation && ownServer(installation)
const createDatabase = async (name: string) => (await startServer?.())?.createDatabase(name) ?? ''
const engines: [string, ReturnType<typeof createEngine>][] = [
  ['SQLite', createEngine(async (name) => join(copy, `${name}.db`))],
]
if (startServer) engines.push(['PostgreSQL', createEngine(createDatabase)])

test.each(engines)(
  '%s: an old database is upgraded by a daemon alone, and gets the field',
  async (_, engine) => {
    const early = await engine.command('token', 'create', 'other')
    expect(early).toMatchObject({ out: '', code: 1 })
    expect(early.err).toContain('older schema')
    await using daemon = await engine.serve()
    expect((await engine.command('export')).out).toBe('{"id":1,"name":"Dog rose","tag":"shrub"}\n')

    expect(await read(daemon, '/plants/1')).toEqual({ id: 1, name: 'Dog rose', tag: 'shrub' })
    const patched = await daemon.fetch('/plants/1', {
      method: 'PATCH',
      json: { species: 'Rosa canina' },
    })
    expect(await patched.json()).toMatchObject({ species: 'Rosa canina' })
    const { changes } = await read<Changes>(daemon, '/plants/1/history')
    const before = { name: 'Dog rose', tag: 'shrub' }
    expect(changes[0]).toMatchObject({ before, after: { ...before, species: 'Rosa canina' } })
    expect(changes[1]).toMatchObject({ after: before })
    await daemon.stop()
    expect(await engine.command('check')).toMatchObject({ err: '', code: 0 })
  },
)

test.each(engines)('%s: requests have the new field', async (_, engine) => {
  await using daemon = await engine.serve()
  const created = await daemon.fetch('/plants', { json: PLANT })
  expect(await created.json()).toEqual(FIELDS)
  const batch = { plants: [{ ...PLANT, id: 3 }] }
  expect((await daemon.fetch('/plants/batch', { json: batch })).status).toBe(200)
  expect(await read(daemon, '/plants/2')).toEqual(PLANT)
  expect((await read<Page>(daemon, '/plants?tag=aroid')).plants).toEqual([
    PLANT,
    { ...PLANT, id: 3 },
  ])
  expect((await daemon.fetch('/plants', { json: PLANT })).status).toBe(409)
  const other = await daemon.fetch('/plants', { json: { ...PLANT, species: 'other' } })
  expect(await other.json()).toMatchObject({ error: 40902 })
  const wrong = await daemon.fetch('/plants', { json: { ...PLANT, id: 4, species: 5 } })
  expect(await wrong.text()).toContain('species: expected a string, found a number')

  const etag = (await daemon.fetch('/plants/2')).headers.get('etag')
  const patch = (json: object) => daemon.fetch('/plants/2', { method: 'PATCH', json })
  expect(await (await patch({ species: 'M. deliciosa' })).json()).toEqual({
    ...PLANT,
    species: 'M. deliciosa',
  })
  expect((await daemon.fetch('/plants/2')).headers.get('etag')).not.toBe(etag)
  const removed = await (await patch({ species: null })).json()
  expect(removed).toEqual({ id: 2, name: PLANT.name, tag: PLANT.tag })
  const replaced = await daemon.fetch('/plants/2', { method: 'PUT', json: PLANT })
  expect(await replaced.json()).toEqual(PLANT)

  const { changes } = await read<Changes>(daemon, '/plants/2/history')
  expect(changes.map(({ after }) => after)).toEqual([
    FIELDS,
    { name: PLANT.name, tag: PLANT.tag },
    { ...FIELDS, species: 'M. deliciosa' },
    FIELDS,
  ])
  const feed = await read<Changes>(daemon, '/plants/changes')
  expect(feed.changes.at(-1)).toMatchObject({ id: 2, action: 'replace', after: FIELDS })
  const { schemas } = (await read<Description>(daemon, '/openapi.json')).components
  expect(schemas.NewPlant?.properties.species).toMatchObject({ type: 'string' })
  expect(schemas.PlantPatch?.properties.species).toMatchObject({ type: ['string', 'null'] })
  await daemon.stop()
})

test.each(engines)('%s: the printed changes have the new field', async (_, engine) => {
  const { out } = await engine.command('changes')

  const last = JSON.parse(out.trim().split('\n').at(-1) ?? '')
  expect(last).toMatchObject({ id: 2, action: 'replace', after: FIELDS })
})

test.each(engines)(
  '%s: a list has the filter, and is refused with the error',
  async (_, engine) => {
    const { createClient } = await import(join(copy, 'src/client/client.ts'))
    await using daemon = await engine.serve()
    const client = createClient({ url: daemon.url, token: TOKEN })
    await client.createPlant({ id: 9n, name: '' })

    const nameless = await client.listPlants({ named: '' })
    const named = await client.listPlants({ named: PLANT.name, tag: 'aroid', limit: 1 })
    const refused = await client.listPlants({ named: '', name: 'a' })
    const { paths } = await read<Description>(daemon, '/openapi.json')
    const { ERRORS } = await import(join(copy, 'src/client/contract.ts'))
    await client.deletePlant(9n)
    await daemon.stop()

    expect(nameless.value).toEqual({ plants: [{ id: 9n, name: '' }], next: null })
    expect(named.value).toMatchObject({ plants: [{ id: 2n }], next: '2' })
    expect(refused).toMatchObject({ ok: false, status: 400, error: ERRORS.contradictory })
    expect(refused.message).toBe('no plant can meet these conditions')
    expect(paths['/plants']?.get?.parameters.map(({ name }) => name)).toContain('named')
    expect(JSON.stringify(paths['/plants']?.get?.responses[400])).toContain('"40003":')
  },
)

test.each(engines)('%s: command and route count the plants, with the option', async (_, engine) => {
  const { length } = (await engine.command('export')).out.trim().split('\n')
  await using daemon = await engine.serve()
  const counted = await daemon.fetch('/count')

  expect(await engine.command('count')).toEqual({ out: `${length}\n`, err: '', code: 0 })
  expect(await counted.json()).toEqual({ count: length })
  expect(counted.headers.get('server')).toBe('x')
})

test.each(engines)('%s: the client has the new field', async (_, engine) => {
  const { createClient } = await import(join(copy, 'src/client/client.ts'))
  await using daemon = await engine.serve()
  const client = createClient({ url: daemon.url, token: TOKEN })
  const plant = { ...PLANT, id: 5n }

  expect(await client.createPlant(plant)).toMatchObject({ ok: true, value: FIELDS })
  expect(await client.readPlant(5n)).toMatchObject({ ok: true, value: plant })
  const patched = await client.patchPlant(5n, { species: 'a' })
  expect(patched.value).toEqual({ ...plant, species: 'a' })
  expect((await client.replacePlant(plant)).value).toEqual(plant)
  for await (const outcome of client.createAll([plant, { ...plant, species: 'b' }])) {
    expect(outcome).toMatchObject({ known: 1, refused: [{ failure: { error: 40902 } }] })
  }
  const followed: unknown[] = []
  for await (const it of client.follow({ signal: AbortSignal.timeout(60_000) })) {
    if (it.action === 'list') followed.push(it.after)
    if (it.id === 5n) break
  }
  expect(followed).toContainEqual(FIELDS)
  expect((await client.history(5n)).value.changes[0]).toMatchObject({ after: FIELDS })
  expect((await client.deletePlant(5n)).ok).toBe(true)
  await daemon.stop()
})

test.each(engines)(
  '%s: files have the new field, when read and when written',
  async (_, engine) => {
    const csv = (await engine.command('export', '--format', 'csv')).out
    const ndjson = (await engine.command('export')).out
    expect(csv).toStartWith('id,name,tag,species\n1,Dog rose,shrub,Rosa canina\n')
    expect(ndjson).toContain(`${JSON.stringify(PLANT)}\n`)

    using folder = temporaryFolder()
    for (const [format, text] of Object.entries({ csv, ndjson })) {
      const other = {
        ...engine.options(),
        env: { PLANTSTORE_DATABASE: folder.file(`${format}.db`) },
      }
      const args = ['import', '-', '--format', format]
      const imported = await runProgram(args, { ...other, stdin: text })
      expect(imported.out).toStartWith('created 3,')
      expect((await runProgram(['export'], other)).out).toBe(ndjson)
    }
    const inert = await engine.command('export', '--format', 'csv', '--escape-formulas')
    expect(inert.out).toContain('Rosa canina')
  },
)

test.each(engines)('%s: an import compares the new field', async (_, engine) => {
  const header = 'id,name,tag,art\n'
  const rows = '2,Swiss cheese plant,aroid,Monstera deliciosa\n3,Swiss cheese plant,aroid,other\n'
  const dry = ['--species-column', 'art', '--dry-run']
  const compared = await engine.importText(header + rows, ...dry)
  expect(compared.out).toContain('would create 0, skip 1, replace 0, refuse 1')
  const replaced = await engine.importText(header + rows, ...dry, '--replace')
  expect(replaced.out).toContain('would create 0, skip 1, replace 1, refuse 0')
  expect(replaced.err).not.toContain('columns not used')

  using folder = temporaryFolder()
  const refused = ['--species-column', 'art', '--refused', folder.file('refused.csv')]
  const imported = await engine.importText(header + rows, ...refused)
  expect(imported.out).toStartWith('created 0, skipped 1, replaced 0, refused 1')
  expect(imported.err).toContain('--species-column art')
  expect(readFileSync(folder.file('refused.csv'), 'utf8')).toContain(',aroid,other,')
  const unknown = await engine.importText(header + rows, '--species-column', 'none', '--dry-run')
  expect(unknown.err).toContain('no column "none"')
})
test('an older backup is read and restored as it is, then upgraded by a daemon', async () => {
  const old = join(copy, 'old.db')
  const program = [join(copy, 'dist/plantstore')]
  const options = { program, env: { PLANTSTORE_DATABASE: join(copy, 'restored.db') } }
  const newer = (...args: readonly string[]) => runProgram(args, options)
  const stdin = 'id,name,tag\n1,Rose,shrub\n'
  const importing = ['import', '-', '--format', 'csv', '--database', old]
  await runProgram(importing, { program: builtProgram(), stdin })
  const exported = await newer('export', '--database', old)

  const restored = await newer('restore', old)
  const checked = await newer('check')
  await using daemon = await startDaemon(options)
  await daemon.create('{"id":2,"name":"Ivy","species":"Hedera"}')
  await daemon.stop()

  expect(exported.out).toBe('{"id":1,"name":"Rose","tag":"shrub"}\n')
  expect(restored).toMatchObject({ err: '', code: 0 })
  expect(checked).toMatchObject({ err: '', code: 0 })
  expect(checked.out).toContain('schema version 8\n')
  expect((await newer('check')).out).toContain('schema version 9\n')
  expect((await newer('export')).out).toContain('"species":"Hedera"')
})

test.skipIf(!startServer)(
  'an upgrade with the shortest stop loses no write, and answers each within 10 seconds',
  async () => {
    const env = { PLANTSTORE_DATABASE: await createDatabase('stop') }
    const old = await startDaemon({ program: builtProgram(), env })
    const daemons = [old]
    const stored: number[] = []
    let longestMs = 0
    const isOver = () => stored.length > 200
    const write = async () => {
      for (let id = 1; !isOver(); id++) {
        const startedAt = performance.now()
        const body = `{"id":${id},"name":"n"}`
        await until('an answer', async () => {
          const answer = await daemons
            .at(-1)
            ?.create(body)
            .catch(() => null)
          return answer?.status === 200 || answer?.status === 409
        })
        stored.push(id)
        longestMs = Math.max(longestMs, performance.now() - startedAt)
        await Bun.sleep(5)
      }
    }
    const writing = write()
    await until('writes', () => stored.length > 50)
    await old.stop()
    await using daemon = await startDaemon({ program: [join(copy, 'dist/plantstore')], env })
    daemons.push(daemon)
    await writing

    expect(longestMs).toBeLessThan(10_000)
    const { plants } = await read<Page>(daemon, '/plants?limit=1000')
    expect(plants).toHaveLength(stored.length)
  },
)
