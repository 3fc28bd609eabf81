// The package of the client, as a user installs it: with npm, in an empty folder, without anything of this repository.
import { beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildClient, packClient } from '../../../deploy/client-package'
import { root } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { run, runWell } from '../../harness/process'

const { daemon, folder } = ownDaemon({ args: ['--keep-changes', '1d'] })
const built = folder.file('client')
const archive = folder.file('plantstore-client.tgz')
const project = folder.file('project')

const inProject = (...command: readonly string[]) =>
  run(command, { cwd: project, env: { npm_config_loglevel: 'error' } })

beforeAll(async () => {
  await buildClient(built)
  packClient(built, archive)
  mkdirSync(project)
  const write = (name: string, text: string) => writeFileSync(join(project, name), text)
  write('package.json', '{"private":true,"type":"module"}')
  const scenario = readFileSync(join(root, 'test/client/scenario.ts'), 'utf8')
  write('scenario.js', new Bun.Transpiler({ loader: 'ts' }).transformSync(scenario))
  write(
    'main.js',
    `import { createClient } from 'plantstore/client'
    import { exercise } from './scenario.js'
    const [url, token] = process.argv.slice(2)
    console.log(JSON.stringify(await exercise(createClient({ url, token }))))`,
  )
  write(
    'types.ts',
    `import { ClientError, createClient, type NewPlant, type Result } from 'plantstore/client'
    const client = createClient({ url: 'http://127.0.0.1:3000', token: 'a', retries: undefined })
    export async function run(signal: AbortSignal | undefined): Promise<bigint> {
      const result: Result<NewPlant> = await client.readPlant(1n, { signal })
      if (!result.ok) return result.error === 40402 ? 0n : -1n
      const tag: string | undefined = result.value.tag
      await client.replacePlant({ id: 1n, name: 'a', tag })
      await client.patchPlant(1n, { name: undefined, tag }, { ifMatch: result.etag, headers: undefined })
      await client.listPlants({ limit: undefined, after: undefined, tag })
      for await (const { id, tag } of client.plants({ tag: 'aroid', after: 5n })) {
        const text: string = tag ?? ''
        if (text === '') return id
      }
      const known = await client.readPlant(1n, { ifNoneMatch: result.etag })
      if (known.ok && known.value) return known.value.id
      // @ts-expect-error: null if it has not changed
      if (known.ok) return known.value.id
      // @ts-expect-error: a number
      await client.createPlant({ id: 1, name: 'a' })
      // @ts-expect-error: there may be no value
      result.value.tag.length
      // @ts-expect-error: an unknown parameter
      await client.listPlants({ page: 1 })
      // @ts-expect-error: a condition of a change
      await client.readPlant(1n, { ifMatch: 'a' })
      throw new ClientError({ ok: false, error: 0, status: 0, message: 'none' })
    }`,
  )
  const npm = ['npm', 'install', '--offline', '--no-audit', '--no-fund', archive]
  expect(await inProject(...npm)).toMatchObject({ code: 0 })
}, 60_000)

test('the client is one package, without dependencies', async () => {
  const list = await inProject('npm', 'ls', '--all', '--parseable')

  expect(list.out.trim().split('\n').slice(1)).toEqual([join(project, 'node_modules/plantstore')])
})

test.each([
  ['Node', 'node'],
  ['Bun', process.execPath],
])('the package works on %s, without a bundler', async (_, runtime) => {
  const { url, token } = daemon

  expect(await inProject(runtime, 'main.js', url, token)).toEqual({ code: 0, out: '[]\n', err: '' })
})

test('the package works on Deno, which npm installs', async () => {
  const { url, token } = daemon
  const prefix = folder.file('deno')
  const npm = ['npm', 'install', '--prefix', prefix, '--no-audit', '--no-fund', 'deno@2.9.6']
  await runWell(npm)
  const deno = join(prefix, 'node_modules/.bin/deno')

  const result = await inProject(deno, 'run', '--quiet', '--allow-net', 'main.js', url, token)

  expect(result).toEqual({ code: 0, out: '[]\n', err: '' })
}, 60_000)

test('the first example of docs/client.md prints a plant', async () => {
  const [, example = ''] =
    /```ts\n(.*?)```/s.exec(readFileSync(join(root, 'docs/client.md'), 'utf8')) ?? []
  const { url, token } = daemon
  const script = example.replace('http://127.0.0.1:3000', url).replace('pst_…', token)
  writeFileSync(join(project, 'example.js'), script)

  const result = await inProject('node', 'example.js')

  expect(result).toEqual({ code: 0, out: '9223372036854775807n Monstera deliciosa\n', err: '' })
})

/** The oldest TypeScript that docs/client.md names. It comes from the registry, as this machine is set up for it. */
async function oldestTypeScript(): Promise<string> {
  const prefix = folder.file('typescript')
  const npm = ['npm', 'install', '--prefix', prefix, '--no-audit', '--no-fund', 'typescript@5.0.4']
  await runWell(npm)
  return join(prefix, 'node_modules/.bin/tsc')
}

const thisTypeScript = async () => join(root, 'node_modules/.bin/tsc')

test.each([
  ['this TypeScript', 'NodeNext', 'NodeNext', 'ES2022,DOM', thisTypeScript],
  ['this TypeScript', 'ESNext', 'Bundler', 'ESNext,DOM', thisTypeScript],
  ['TypeScript 5.0', 'NodeNext', 'NodeNext', 'ES2022,DOM', oldestTypeScript],
  ['TypeScript 5.0', 'ESNext', 'Bundler', 'ESNext,DOM', oldestTypeScript],
])(
  'the package has types for %s, module %s, resolution %s',
  async (_, module, resolution, lib, install) => {
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit']
    const flags = ['--module', module, '--moduleResolution', resolution, '--target', 'ES2022']

    const result = await inProject(await install(), ...strict, ...flags, '--lib', lib, 'types.ts')

    expect(result).toEqual({ code: 0, out: '', err: '' })
  },
)

test('the package is bundled for a browser without any module of a server', async () => {
  const bundle = await Bun.build({ entrypoints: [join(project, 'main.js')], target: 'browser' })
  const text = await bundle.outputs[0]?.text()

  expect(bundle.success).toBeTrue()
  expect(text).not.toContain('node:')
})
