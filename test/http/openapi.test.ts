import { beforeAll, expect, test } from 'bun:test'
import type { Schema } from '../../src/web/docs/description'
import { exampleOf } from '../../src/web/docs/schema'
import { startDaemon } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'

type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly summary: string
  readonly description: string
  readonly requestBody?: { readonly content: Record<string, unknown> }
  readonly responses: Record<
    string,
    {
      description: string
      headers?: Record<string, unknown>
      links?: Record<string, unknown>
      content?: Record<string, { schema: Schema; examples?: Record<string, unknown> }>
    }
  >
}

type Description = {
  openapi: string
  info: { title: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    headers: Record<string, unknown>
    schemas: Record<string, Schema & { additionalProperties?: unknown }>
  }
}

const { daemon, folder } = ownDaemon()
let text = ''
beforeAll(async () => {
  text = await (await fetch(`${daemon.url}/openapi.json`)).text()
})

// Anew for each test: Bun's matchers change what they are given.
const describe = (): Description => JSON.parse(text)

test('int64 is described by its bounds, in their exact digits', () => {
  const bounds = '"minimum":-9223372036854775808,"maximum":9223372036854775807'
  expect(text.split(bounds)).toHaveLength(text.split('"type":"integer","format":"int64"').length)
  expect(text).not.toContain('922337203685477600')
})

test('texts are described without U+0000, cursors as strings, and plants in one place', () => {
  const { components, paths } = describe()
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const { NewPlant, PlantBatch, PlantPage } = components.schemas

  const { name } = (NewPlant?.properties ?? {}) as { name?: { pattern: string } }
  const pattern = new RegExp(name?.pattern ?? '')
  expect(['Rose', '', 'a\nb', 'a\0b'].filter((text) => pattern.test(text))).toHaveLength(3)
  expect(PlantBatch).toMatchObject({ properties: { plants: { items: ref('NewPlant') } } })
  expect(PlantPage).toMatchObject({
    properties: {
      plants: { items: ref('NewPlant') },
      next: { anyOf: [ref('Cursor'), { type: 'null' }] },
    },
  })
  expect(paths['/plants']?.get).toMatchObject({
    parameters: expect.arrayContaining([
      expect.objectContaining({ name: 'after', schema: ref('Cursor') }),
    ]),
  })
})

test('the description allows no other field in a patch and in its guard, and any in a plant', () => {
  const { schemas } = describe().components
  const isClosed = (name: string) => schemas[name]?.additionalProperties === false

  const closedSchemas = Object.keys(schemas).filter(isClosed)
  expect(closedSchemas.sort()).toEqual([
    'PlantPatch',
    'PlantUpdate',
    'PlantUpdates',
    'StoredFields',
  ])
  expect(text).not.toContain('"unknown"')
})

test('the description has the parameters that docs/api.md names', async () => {
  const withParameters = Object.entries(describe().paths).flatMap(([path, { get }]) => {
    const names = (get?.parameters ?? []).filter((it) => it.in === 'query').map(({ name }) => name)
    return names.length === 0 ? [] : [[path, names]]
  })
  const docs = await Bun.file('docs/api.md').text()
  const named = [...docs.matchAll(/^\| `GET (\S+)` \| (`.*`) \|$/gm)].map(
    ([, path = '', names = '']) => [path, names.replaceAll('`', '').split(', ')],
  )

  expect(Object.fromEntries(named)).toEqual(Object.fromEntries(withParameters))
})

test('the description names the media types that each body may have, and the headers that name them', async () => {
  const described = new Set<string>()
  for (const [path, methods] of Object.entries(describe().paths))
    for (const [method, { requestBody, responses }] of Object.entries(methods)) {
      if (!requestBody) continue
      for (const type of ['application/json', 'application/merge-patch+json', 'text/plain']) {
        const { status, headers } = await daemon.fetch(path.replace('{id}', '1'), {
          method: method.toUpperCase(),
          headers: { 'content-type': type },
          body: '{}',
        })
        const sent = { method, path, type, isRefused: status === 415 }
        expect(sent).toEqual({ ...sent, isRefused: !(type in requestBody.content) })
        if (status === 415 && headers.has('accept-patch'))
          expect(responses['415']?.headers).toHaveProperty('accept-patch')
        described.add(`${method} ${path}`)
      }
    }

  expect(described).toContain('patch /plants/batch')
})

test('the description links from a create to the operations on the plant, and to itself under any prefix', () => {
  const { paths, servers } = describe()

  const links = paths['/plants']?.post?.responses['200']?.links
  expect(Object.keys(links ?? {})).toEqual([
    'readPlant',
    'replacePlant',
    'patchPlant',
    'deletePlant',
  ])
  expect(links?.readPlant).toMatchObject({ parameters: { id: '$request.body#/id' } })
  const server = new URL(servers[0]?.url ?? '', 'https://example.org/garden/openapi.json')
  expect(server.href).toBe('https://example.org/garden/')
})

test('every operation, response, parameter and field is described', () => {
  const undescribed: string[] = []
  const look = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return
    const isTold = 'description' in value || '$ref' in value || 'summary' in value
    if (/\/(properties|parameters|responses|headers|schemas)\/[^/]+$/.test(path) && !isTold) {
      undescribed.push(path)
    }
    for (const [key, part] of Object.entries(value)) {
      if (!/^examples?$/.test(key)) look(part, `${path}/${key}`)
    }
  }
  const { paths, components } = describe()
  look({ paths, schemas: components.schemas }, '')

  expect(undescribed.filter((path) => !path.includes('/links/'))).toEqual([])
})

test('every route is described, with an example of each of its responses', () => {
  const { paths, components } = describe()

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      ...operation,
    })),
  )

  expect(operations.length).toBeGreaterThan(15)
  for (const { name, responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      if (
        status === '204' ||
        status === '304' ||
        status === '4XX' ||
        (name === 'get /openapi.json' && status === '200')
      )
        continue
      for (const { schema, examples } of Object.values(response.content ?? {})) {
        const example = Object.values(examples ?? {})[0] ?? exampleOf(schema, components.schemas)
        // An empty text stands for a field without an example.
        const text = JSON.stringify(example, (_, value) => (typeof value === 'bigint' ? 1 : value))
        expect({ name, status, text }).toEqual({
          name,
          status,
          text: expect.not.stringMatching(/[:[]""[,}\]]|^\{\}$/),
        })
      }
    }
  }
})

const PLANT_READS = [
  '/plants',
  '/plants/changes',
  '/plants/history',
  '/plants/{id}',
  '/plants/{id}/history',
  '/tags',
]

test('50301 is described for every read whose response may exceed the budget', () => {
  const { paths } = describe()
  const reads = Object.entries(paths).filter(([, { get }]) =>
    get?.responses['503']?.description.includes('50301'),
  )

  expect(reads.map(([path]) => path).sort()).toEqual(['/metrics', ...PLANT_READS])
})

test('the description says of a read that it failed, and only of a change that nothing was stored', () => {
  const found = Object.entries(describe().paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => {
      const refusal = JSON.stringify(responses['503'] ?? {})
      // The health check says that writes fail.
      const isRead = method === 'get' && path !== '/health'
      const saysStored = refusal.includes('nothing was stored')
      const saysRead = refusal.includes('cannot read from the database')
      return { path, method, isRight: isRead ? !saysStored : saysStored && !saysRead, saysRead }
    }),
  )

  expect(found.filter(({ isRight }) => !isRight)).toEqual([])
  expect(found.filter(({ saysRead }) => saysRead).map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/plants', '/plants/{id}', '/tags', '/plants/changes', '/status']),
  )
})

test('41001 is described for every read that may wait for a change', () => {
  const { paths } = describe()
  const reads = Object.entries(paths).filter(([, { get }]) =>
    JSON.stringify(get ?? {}).includes('"name":"Plantstore-Cursor"'),
  )

  expect(reads.map(([path]) => path).sort()).toEqual(PLANT_READS)
  for (const [path, { get }] of reads) {
    const description = get?.responses['410']?.description
    expect({ path, description }).toMatchObject({ description: expect.stringContaining('41001') })
  }
})

test('the headers that options add to responses are described as the daemon sends them', async () => {
  const args = ['--log-requests', '--rate-limit', '1000']
  await using daemon = await startDaemon({ database: folder.file('verbose.db'), args })
  const description: Description = JSON.parse(
    await (await fetch(`${daemon.url}/openapi.json`)).text(),
  )
  const shared = Object.keys(description.components.headers)
  expect(shared).toEqual(['X-Request-Id'])

  for (const [path, method, status] of [
    ['/plants', 'get', 200],
    ['/plants', 'post', 400],
    ['/plants/{id}', 'delete', 404],
    ['/health', 'get', 200],
  ] as const) {
    const body = method === 'post' ? { body: '{' } : {}
    const response = await daemon.fetch(path.replace('{id}', '1'), { method, ...body })
    const described = description.paths[path]?.[method]?.responses[status]?.headers ?? {}
    const sent = shared.filter((name) => response.headers.has(name))

    expect({ path, status: response.status }).toEqual({ path, status })
    expect({ path, names: shared.filter((name) => name in described) }).toEqual({
      path,
      names: sent,
    })
  }
})

test('41301 is described for every operation that refuses a large body', async () => {
  expect.hasAssertions()
  const body = ' '.repeat(1_048_577)
  for (const [path, methods] of Object.entries(describe().paths))
    for (const [method, { responses }] of Object.entries(methods)) {
      if (method === 'get') continue
      const { status } = await daemon.fetch(path.replace('{id}', '1'), { method, body })
      const described = responses[status]?.description ?? ''
      expect({ path, method, status, described }).toMatchObject({
        status: 413,
        described: expect.stringContaining('41301'),
      })
    }
})
