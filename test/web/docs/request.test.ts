// The requests of the API reference: sent, shown as code, and with JSON integers kept exact.
import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  groupsOf,
  loadDescription,
  type Operation,
  type Schemas,
} from '../../../src/web/docs/description'
import { indent, parseExact, writeExact } from '../../../src/web/docs/json-text'
import { exampleOf, limitsOf, typeText } from '../../../src/web/docs/schema'
import { LANGUAGES } from '../../../src/web/docs/try-it/languages'
import { firstDraft, missingIn, toRequest } from '../../../src/web/docs/try-it/request'
import { TOKEN } from '../../harness/daemon'
import { OTHER_TEXTS } from '../../harness/fields'
import { ownDaemon } from '../../harness/own-daemon'

const { daemon } = ownDaemon()
let schemas: Schemas = {}
let operations: Operation[] = []
beforeAll(async () => {
  const description = await loadDescription(new URL(`${daemon.url}/openapi.json`))
  schemas = description.components?.schemas ?? {}
  operations = groupsOf(description).flatMap((group) => group.operations)
})
const server = new URL('https://example.org/garden/')

function operationOf(id: string): Operation {
  const found = operations.find(({ operationId }) => operationId === id)
  if (!found) throw new Error(`no operation ${id}`)
  return found
}

const MAX = '9223372036854775807'

test('a request has every parameter in its place, under the path prefix', () => {
  const list = operationOf('listPlants')
  const values = { limit: '2', after: '-1', tag: 'a b&c=d' }
  const { url } = toRequest(list, { ...firstDraft(list, schemas), values }, server)
  const read = operationOf('readPlant')
  const one = toRequest(read, { ...firstDraft(read, schemas), values: { id: '1/2?x' } }, server)

  expect(url).toBe('https://example.org/garden/plants?limit=2&after=-1&tag=a+b%26c%3Dd')
  expect(one).toMatchObject({ method: 'GET', url: 'https://example.org/garden/plants/1%2F2%3Fx' })
  expect(one.body).toBeNull()
})

test('a request reports its empty required parameters', () => {
  const read = operationOf('readPlant')
  const draft = firstDraft(read, schemas)

  expect(missingIn(read, draft)).toEqual(['id'])
  expect(missingIn(read, { ...draft, values: { id: '0' } })).toEqual([])
  expect(missingIn(operationOf('listPlants'), draft)).toEqual([])
})

test('a request starts with a body that the service accepts', async () => {
  const send = (id: string, values: Record<string, string> = {}) => {
    const operation = operationOf(id)
    const draft = { ...firstDraft(operation, schemas), values }
    const { method, url, headers, body } = toRequest(operation, draft, new URL(`${daemon.url}/`))
    const sent = { ...Object.fromEntries(headers), Authorization: `Bearer ${TOKEN}` }
    return fetch(url, { method, headers: sent, body })
  }

  expect((await send('createPlant')).status).toBe(200)
  // The body must not have an id that differs from the path.
  await send('createPlant')
  expect((await send('replacePlant', { id: '1' })).status).toBe(200)
  expect((await send('replacePlant', { id: '2' })).status).toBe(404)
  expect((await send('deletePlant', { id: '1' })).status).toBe(204)
  expect((await send('createPlants')).status).toBe(200)
  expect((await send('putPlants')).status).toBe(200)
  expect((await send('deletePlants')).status).toBe(200)
})

/** Returns the request of an operation, from which its code is written. */
const filled = (operation: Operation, draft = firstDraft(operation, schemas)) => ({
  operation,
  draft,
  request: toRequest(operation, draft, server),
  server,
})

test('a request in TypeScript calls the client, wherever it has a method', () => {
  const others = operations.filter(
    (operation) =>
      !LANGUAGES.TypeScript(filled(operation))?.includes(`await client.${operation.operationId}(`),
  )

  expect(others.map(({ operationId }) => operationId)).toEqual(['openapi', 'metrics'])
})

test('a request in TypeScript says how to install the client', () => {
  expect(LANGUAGES.TypeScript(filled(operationOf('createPlant')))).toContain(
    '// Install from a release, not from the npm registry: npm install ./plantstore-client-',
  )
})

test('a request as a curl command is quoted for the shell, and hides the token', () => {
  const create = operationOf('createPlant')
  const body = `{"id":1,"name":"it's \\"$HOME\\" \`id\` \\\\ \n"}`
  const { curl } = LANGUAGES
  const command = curl(filled(create, { ...firstDraft(create, schemas), body }))
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`
  const { stdout } = Bun.spawnSync(['sh', '-c', script], { env: { TOKEN: 'secret' } })

  expect(stdout.toString().split('\0').slice(0, -1)).toEqual([
    'https://example.org/garden/plants',
    '-H',
    'Authorization: Bearer secret',
    '-H',
    'Content-Type: application/json',
    '--data-raw',
    body,
  ])
  expect(curl(filled(operationOf('health')))).not.toContain('Authorization')
  expect(curl(filled({ ...operationOf('deletePlant'), needsToken: false }))).toBe(
    `curl 'https://example.org/garden/plants/ID' \\\n  -X DELETE`,
  )
})

describe('JSON', () => {
  test('keeps integers of any size exact', () => {
    const text = `{"id":${MAX},"ids":[-9223372036854775808,1,0.5],"name":"${MAX}"}`

    expect(parseExact(text)).toEqual({
      id: BigInt(MAX),
      ids: [-(2n ** 63n), 1, 0.5],
      name: MAX,
    })
    expect(writeExact(parseExact(text)).replaceAll(/\s/g, '')).toBe(text)
  })

  test('is indented without changing any digit', () => {
    const shown = indent(`{"id":${MAX},"tags":[],"of":{},"all":[1.0,1e3,-0]}`)

    expect(shown?.map(({ text }) => text).join('')).toBe(
      `{\n  "id": ${MAX},\n  "tags": [],\n  "of": {},\n  "all": [\n    1.0,\n    1e3,\n    -0\n  ]\n}`,
    )
    expect(shown?.filter(({ kind }) => kind === 'key').map(({ text }) => text)).toEqual([
      '"id"',
      '"tags"',
      '"of"',
      '"all"',
    ])
  })

  test('has the same value after indenting', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space)
        const shown = indent(text)
          ?.map((token) => token.text)
          .join('')
        expect(shown).toBe(JSON.stringify(value, null, 2))
      }),
      { numRuns: 300 },
    )
  })

  test('is not indented if it is invalid', () => {
    for (const text of ['', 'plantstore_up 1', '{"id":', '{"id":1}}'])
      expect(indent(text)).toBeNull()
  })
})

describe('schemas', () => {
  test('are described in words, with exact limits', () => {
    const { NewPlant, PlantPage, PlantBatch } = schemas
    const id = NewPlant?.properties?.id ?? {}

    expect(typeText(id)).toBe('integer (int64)')
    expect(limitsOf(id)).toEqual([`-9223372036854775808 to ${MAX}`])
    expect(typeText(PlantPage?.properties?.next ?? {})).toBe('Cursor or null')
    expect(typeText(PlantPage?.properties?.plants ?? {})).toBe('array of NewPlant')
    expect(limitsOf(PlantBatch?.properties?.plants ?? {})).toEqual(['1 to 1000 items'])
    expect(typeText({ enum: ['read', 'write'] })).toBe('"read" or "write"')
    expect(typeText({ type: ['string', 'null'] })).toBe('string or null')
    expect(limitsOf(NewPlant?.properties?.name ?? {})).toEqual(['any text without U+0000'])
  })

  test('have every pattern in words', async () => {
    const patterns: string[] = []
    JSON.parse(await (await daemon.fetch('/openapi.json')).text(), (key, value) => {
      if (key === 'pattern') patterns.push(value)
    })
    const limits = patterns.flatMap((pattern) => limitsOf({ pattern }))

    expect(limits.length).toBeGreaterThan(2)
    expect(limits.filter((limit) => limit.includes('^'))).toEqual([])
  })

  test('have examples of every field', () => {
    const others = Object.fromEntries(OTHER_TEXTS.map((name) => [name, expect.any(String)]))
    const plant = { id: 1, name: 'Monstera deliciosa', tag: 'aroid', ...others }

    expect(exampleOf({ $ref: '#/components/schemas/NewPlant' }, schemas)).toEqual(plant)
    expect(exampleOf(schemas.PlantBatch ?? {}, schemas)).toEqual({ plants: [plant] })
  })
})
