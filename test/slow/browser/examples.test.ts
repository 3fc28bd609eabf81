// The TypeScript examples of the API reference, run unchanged: `bun run test:browser`.
import { beforeAll, expect, test } from 'bun:test'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildClient } from '../../../deploy/client-package'
import {
  groupsOf,
  loadDescription,
  type Operation,
  type Schemas,
} from '../../../src/web/docs/description'
import { LANGUAGES } from '../../../src/web/docs/try-it/languages'
import { type Draft, firstDraft, toRequest } from '../../../src/web/docs/try-it/request'
import { root, TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { run } from '../../harness/process'

const { daemon, folder } = ownDaemon({ args: ['--keep-changes', '1d'] })
let schemas: Schemas = {}
let operations: Operation[] = []
let server: URL

/** Writes the example of an operation with these values. */
function write(id: string, draft: Partial<Draft> = {}): string {
  const operation = operations.find(({ operationId }) => operationId === id)
  if (!operation) throw new Error(`no operation ${id}`)
  const filled = { ...firstDraft(operation, schemas), ...draft }
  const request = toRequest(operation, filled, server)
  return LANGUAGES.TypeScript({ operation, draft: filled, request, server }) ?? ''
}

const project = folder.file('project')
beforeAll(async () => {
  server = new URL(`${daemon.url}/`)
  const description = await loadDescription(new URL(`${daemon.url}/openapi.json`))
  schemas = description.components?.schemas ?? {}
  operations = groupsOf(description).flatMap((group) => group.operations)
  mkdirSync(join(project, 'node_modules/plantstore/dist'), { recursive: true })
  await buildClient(join(project, 'node_modules/plantstore'))
  symlinkSync(join(root, 'node_modules/bun-types'), join(project, 'node_modules/bun-types'))
  writeFileSync(
    join(project, 'tsconfig.json'),
    `{"compilerOptions":{"strict":true,"noEmit":true,"target":"ESNext","module":"ESNext",
    "moduleResolution":"bundler","types":["bun-types"]},"include":["*.ts"]}`,
  )
})
const NAME = `it's "Éric" \\ 🌿 $HOME \`id\` \ufeff`

const LARGEST = String(2n ** 63n - 1n)

test('the TypeScript examples create, list, replace conditionally and delete, with exact ids', async () => {
  const example = async (id: string, draft: Partial<Draft> = {}) => {
    writeFileSync(join(project, 'example.ts'), write(id, draft))
    const { out, err, code } = await run([process.execPath, 'example.ts'], {
      cwd: project,
      env: { TOKEN },
    })
    return { text: out + err, code }
  }
  const stored = () => daemon.fetch(`/plants/${LARGEST}`)
  const body = JSON.stringify({ id: 0, name: NAME, tag: 'code' }).replace('0', LARGEST)
  expect(await example('createPlant', { body })).toMatchObject({ code: 0 })
  expect(await (await stored()).text()).toBe(body)

  const listed = await example('listPlants', { values: { limit: '2', tag: 'code' } })
  expect(listed.text).toContain(LARGEST)
  expect(listed.text).toContain('next')

  const etag = String((await stored()).headers.get('etag'))
  const renamed = { values: { id: LARGEST, 'If-Match': etag }, body: '{"name":"Ficus"}' }
  expect((await example('replacePlant', renamed)).text).toContain('Ficus')
  expect(await (await stored()).text()).toBe(`{"id":${LARGEST},"name":"Ficus"}`)
  // The plant's etag has changed since.
  expect((await example('replacePlant', renamed)).text).toContain('41201')

  expect(await example('deletePlant', { values: { id: LARGEST } })).toMatchObject({ code: 0 })
  expect((await stored()).status).toBe(404)
}, 300_000)

test('every TypeScript example compiles', async () => {
  const values = { id: '7', limit: '2', after: '1', tag: 'a', name: 'b' }
  const headers = { 'If-Match': '"a"', 'If-None-Match': '"b"' }
  for (const { operationId } of operations) {
    for (const [name, given] of Object.entries({
      bare: { id: '7' },
      full: { ...values, ...headers },
      untagged: { id: '7', tagged: 'false' },
    }))
      writeFileSync(
        join(project, `${operationId}-${name}.ts`),
        `${write(operationId, { values: given })}\nexport {}\n`,
      )
  }
  const empty = write('patchPlant', { values: { id: '7' }, body: '{}' })
  writeFileSync(join(project, 'patchPlant-empty.ts'), `${empty}\nexport {}\n`)
  const { out, code } = await run([join(root, 'node_modules/.bin/tsc'), '-p', project])

  expect({ out, code }).toEqual({ out: '', code: 0 })
})
