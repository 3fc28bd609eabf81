import { beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { startDaemon, TOKEN, temporaryFolder } from './harness/daemon'

// What reads the description are packages of its own users: an own folder, with the TypeScript that they need.
const tools = join(import.meta.dir, 'openapi')

async function run(command: readonly string[], cwd: string, stdin = '') {
  const child = Bun.spawn([...command], {
    cwd,
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, text: out + err }
}

type Description = {
  openapi: string
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>
  components: { schemas: Record<string, { properties: unknown }> }
}

const describe = async (url: string): Promise<Description> =>
  (await (await fetch(`${url}/openapi.json`)).json()) as Description

const bin = (name: string) => [process.execPath, join(tools, 'node_modules/.bin', name)]

beforeAll(async () => {
  const { code, text } = await run([process.execPath, 'install', '--frozen-lockfile'], tools)
  if (code !== 0) throw new Error(text)
}, 60_000)

test('describes itself in OpenAPI 3.1 that a validator accepts', async () => {
  using folder = temporaryFolder()
  await using daemon = await startDaemon({ database: folder.file('plants.db') })
  const document = await describe(daemon.url)

  const validator = [process.execPath, 'validate.js']
  const result = await run(validator, tools, JSON.stringify(document))

  expect(result).toEqual({ code: 0, text: '{"valid":true}\n' })
  expect(document.openapi).toBe('3.1.0')
  const id = { type: 'integer', format: 'int64' }
  expect(document.components.schemas.NewPlant?.properties).toMatchObject({ id })
})

test('describes every route, each with an example of each of its answers', async () => {
  using folder = temporaryFolder()
  await using daemon = await startDaemon({ database: folder.file('plants.db') })
  const { paths } = await describe(daemon.url)

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      ...operation,
    })),
  )

  expect(operations.map(({ name }) => name).sort()).toEqual([
    'delete /plants/{id}',
    'get /health',
    'get /metrics',
    'get /openapi.json',
    'get /plants',
    'get /plants/{id}',
    'post /plants',
    'post /plants/batch',
    'put /plants/{id}',
  ])
  for (const { name, responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      if (status === '204' || (name === 'get /openapi.json' && status === '200')) continue
      expect({ name, status, text: JSON.stringify(response) }).toMatchObject({
        text: expect.stringMatching(/"example(s)?":/),
      })
    }
  }
})

test('makes a client whose types compile, and which creates, reads, lists, replaces and deletes', async () => {
  using folder = temporaryFolder()
  await using daemon = await startDaemon({ database: folder.file('plants.db') })
  const client = mkdtempSync(join(tools, 'client-'))
  try {
    cpSync(join(tools, 'client.ts'), join(client, 'client.ts'))
    symlinkSync(join(tools, 'node_modules'), join(client, 'node_modules'))
    await Bun.write(join(client, 'openapi.json'), await fetch(`${daemon.url}/openapi.json`))

    const types = await run(
      [...bin('openapi-typescript'), 'openapi.json', '-o', 'types.ts'],
      client,
    )
    expect(types).toMatchObject({ code: 0 })
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--lib',
      'esnext,dom',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
    ]
    const compiled = await run([...bin('tsc'), ...flags, 'client.ts'], client)
    expect(compiled).toEqual({ code: 0, text: '' })

    const { exercise } = await import(join(client, 'client.ts'))
    expect(await exercise(daemon.url, TOKEN)).toEqual({
      created: { name: 'Monstera', tag: 'aroid' },
      read: { id: 1, name: 'Monstera', tag: 'aroid' },
      listed: { plants: [{ id: 1, name: 'Monstera', tag: 'aroid' }], next: null },
      replaced: { id: 1, name: 'Fern' },
      deleted: 204,
      gone: { error: 40402, message: 'there is no plant with this id' },
    })
  } finally {
    rmSync(client, { recursive: true, force: true })
  }
}, 60_000)
