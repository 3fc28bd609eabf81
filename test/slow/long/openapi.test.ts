// /openapi.json, as a linter and a generator of clients read it.
import { beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ERRORS } from '../../../src/request-errors'
import { TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { run as runProcess } from '../../harness/process'

// Tools that read the description have their own package, with the TypeScript that they need.
const tools = join(import.meta.dir, 'openapi')

const run = async (command: readonly string[], cwd: string, stdin = '') => {
  const { code, out, err } = await runProcess(command, { cwd, stdin, env: process.env })
  return { code, text: out + err }
}

const { daemon } = ownDaemon()
let text = ''
beforeAll(async () => {
  text = await (await fetch(`${daemon.url}/openapi.json`)).text()
})

const bin = (name: string) => [process.execPath, join(tools, 'node_modules/.bin', name)]

beforeAll(async () => {
  const { code, text } = await run([process.execPath, 'install', '--frozen-lockfile'], tools)
  if (code !== 0) throw new Error(text)
}, 60_000)

test('the description is valid OpenAPI 3.1, without a warning of a linter', async () => {
  const lint = (source: string) => run([process.execPath, 'lint.js'], tools, source)
  const document = JSON.parse(text)

  expect(document.openapi).toBe('3.1.0')
  expect(document.info.title).toBe('plantstore')
  const id = { type: 'integer', format: 'int64' }
  expect(document.components.schemas.NewPlant?.properties).toMatchObject({ id })
  expect(await lint(text)).toEqual({ code: 0, text: '' })
  // It would say something, of the structure too.
  const faulty = text
    .replace('"summary":"Create a plant",', '')
    .replace('"required":', '"require":')
  const { text: told } = await lint(faulty)
  expect(told).toContain('operation-summary')
  expect(told).toContain('struct')
})

test('a generated client has types that compile, and creates, reads, lists, replaces and deletes', async () => {
  const client = mkdtempSync(join(tools, 'client-'))
  try {
    cpSync(join(tools, 'client.ts'), join(client, 'client.ts'))
    symlinkSync(join(tools, 'node_modules'), join(client, 'node_modules'))
    await Bun.write(join(client, 'openapi.json'), text)

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

    const { exercise, namesBehind } = await import(join(client, 'client.ts'))
    for (const id of ['9007199254740993', '9007199254740994', '9007199254740995']) {
      await daemon.create(`{"id":${id},"name":"n${id}"}`)
    }
    expect(await namesBehind(daemon.url, TOKEN)).toEqual(['n9007199254740994', 'n9007199254740995'])
    expect(await exercise(daemon.url, TOKEN)).toEqual({
      created: { name: 'Monstera', tag: 'aroid' },
      read: { id: 1, name: 'Monstera', tag: 'aroid' },
      listed: { plants: [{ id: 1, name: 'Monstera', tag: 'aroid' }], next: null },
      replaced: { id: 1, name: 'Fern' },
      tagged: { id: 1, name: 'Fern', tag: 'fern' },
      deleted: 204,
      gone: { error: 40402, message: ERRORS['no such plant'].message },
    })
  } finally {
    rmSync(client, { recursive: true, force: true })
  }
}, 60_000)
