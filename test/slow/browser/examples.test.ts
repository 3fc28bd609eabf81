// The code that the API reference writes, run as it is in each language: `bun run test:browser`.
import { beforeAll, describe, expect, test } from 'bun:test'
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

type Language = keyof typeof LANGUAGES
const LANGUAGE_NAMES = Object.keys(LANGUAGES) as readonly Language[]

/** The code of an operation that is filled in. */
function write(language: Language, id: string, draft: Partial<Draft> = {}): string {
  const operation = operations.find(({ operationId }) => operationId === id)
  if (!operation) throw new Error(`no operation ${id}`)
  const filled = { ...firstDraft(operation, schemas), ...draft }
  const request = toRequest(operation, filled, server)
  return LANGUAGES[language]({ operation, draft: filled, request, server }) ?? ''
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
type Runner = { readonly file: string; readonly command: (file: string) => string[] }
const RUNNERS: Readonly<Record<Language, Runner>> = {
  curl: { file: 'example.sh', command: (file) => ['sh', '-c', `. ./${file}`] },
  TypeScript: { file: 'example.ts', command: (file) => [process.execPath, file] },
}
const TOOLS: Readonly<Record<Language, string>> = {
  curl: 'curl',
  TypeScript: process.execPath,
}
const NAME = `it's "Éric" \\ 🌿 $HOME \`id\` \ufeff`

describe.each([...LANGUAGE_NAMES])('an example in %s', (language) => {
  const { file, command } = RUNNERS[language]
  const at = String(2n ** 63n - 1n - BigInt(LANGUAGE_NAMES.indexOf(language)))
  const example = async (id: string, draft: Partial<Draft> = {}) => {
    writeFileSync(join(project, file), write(language, id, draft))
    const { out, err, code } = await run(command(file), { cwd: project, env: { TOKEN } })
    return { text: out + err, code }
  }
  const stored = () => daemon.fetch(`/plants/${at}`)

  test.skipIf(Bun.which(TOOLS[language]) === null)(
    'creates, lists, replaces under a condition and deletes, with every digit',
    async () => {
      const body = JSON.stringify({ id: 0, name: NAME, tag: language }).replace('0', at)
      expect(await example('createPlant', { body })).toMatchObject({ code: 0 })
      expect(await (await stored()).text()).toBe(body)

      const listed = await example('listPlants', { values: { limit: '2', tag: language } })
      expect(listed.text).toContain(at)
      expect(listed.text).toContain('next')

      const etag = String((await stored()).headers.get('etag'))
      const renamed = { values: { id: at, 'If-Match': etag }, body: '{"name":"Ficus"}' }
      expect((await example('replacePlant', renamed)).text).toContain('Ficus')
      expect(await (await stored()).text()).toBe(`{"id":${at},"name":"Ficus"}`)
      // The plant has another tag by now.
      expect((await example('replacePlant', renamed)).text).toContain('41201')

      expect(await example('deletePlant', { values: { id: at } })).toMatchObject({ code: 0 })
      expect((await stored()).status).toBe(404)
    },
    300_000,
  )
})

test('an example in TypeScript is one for each call of the client, and its types fit', async () => {
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
        `${write('TypeScript', operationId, { values: given })}\nexport {}\n`,
      )
  }
  const empty = write('TypeScript', 'patchPlant', { values: { id: '7' }, body: '{}' })
  writeFileSync(join(project, 'patchPlant-empty.ts'), `${empty}\nexport {}\n`)
  const { out, code } = await run([join(root, 'node_modules/.bin/tsc'), '-p', project])

  expect({ out, code }).toEqual({ out: '', code: 0 })
})
