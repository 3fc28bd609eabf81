import { beforeAll, expect, test } from 'bun:test'
import { startDaemon, TOKEN } from '../harness/daemon'
import { connect, head } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, folder, database, createToken } = ownDaemon({ args: ['--max-body-bytes', '200'] })
const READER = 'the token that may only read'
let reader = ''
beforeAll(async () => {
  reader = await createToken('reader', '--scope', 'read')
  await daemon.create('{"id":1,"name":"Rose"}')
})

const authorization = `Bearer ${TOKEN}`
const json = 'application/json'
const challenge = 'Bearer realm="plantstore"'

type Row = {
  readonly error: number
  readonly when: string
  readonly request: [
    method: string,
    path: string,
    body?: string | undefined,
    sent?: Record<string, string>,
  ]
  readonly headers?: Record<string, string>
}

const post = (body: string, headers?: Record<string, string>): Row['request'] => [
  'POST',
  '/plants',
  body,
  { authorization, 'content-type': json, ...headers },
]
const plant = '{"id":2,"name":"Lily"}'
const as = (token: string) => ({ authorization: `Bearer ${token}` })

const rows: Row[] = [
  { error: 40001, when: 'a body is not JSON', request: post('{"id":2') },
  { error: 40002, when: 'a body does not match', request: post('{"id":"2","name":"Lily"}') },
  {
    error: 40002,
    when: 'an id of a path is no int64',
    request: ['GET', '/plants/9223372036854775808', undefined, { authorization }],
  },
  {
    error: 40101,
    when: 'there are no credentials',
    request: ['POST', '/plants', plant, { 'content-type': json }],
    headers: { 'www-authenticate': challenge },
  },
  {
    error: 40102,
    when: 'a token is unknown',
    request: post(plant, as('pst_unknown_0123456789')),
    headers: { 'www-authenticate': `${challenge}, error="invalid_token"` },
  },
  {
    error: 40301,
    when: 'a token may only read',
    request: post(plant, as(READER)),
    headers: {
      'www-authenticate': `${challenge}, error="insufficient_scope", scope="write"`,
    },
  },
  { error: 40401, when: 'there is no such path', request: ['GET', '/flowers'] },
  {
    error: 40402,
    when: 'there is no such plant',
    request: ['GET', '/plants/2', undefined, { authorization }],
  },
  {
    error: 40501,
    when: 'a path does not have the method',
    request: ['POST', '/health', plant],
    headers: { allow: 'GET, HEAD' },
  },
  {
    error: 40901,
    when: 'a plant exists with the same fields',
    request: post('{"id":1,"name":"Rose"}'),
  },
  {
    error: 40902,
    when: 'a plant exists with other fields',
    request: post('{"id":1,"name":"Lily"}'),
  },
  {
    error: 41301,
    when: 'a body is too large',
    request: post(plant.padEnd(201)),
  },
  {
    error: 41501,
    when: 'a body is sent as text',
    request: post(plant, { 'content-type': 'text/plain' }),
  },
  {
    error: 41501,
    when: 'a body is sent in Latin-1',
    request: post(plant, { 'content-type': `${json}; charset=iso-8859-1` }),
  },
  {
    error: 41501,
    when: 'a body is encoded',
    request: post(plant, { 'content-encoding': 'gzip' }),
    headers: { 'accept-encoding': 'identity' },
  },
  {
    error: 41501,
    when: 'a body of another type is encoded, too',
    request: post(plant, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }),
  },
]

// Headers of every answer, with those that the connection adds.
const common = ['cache-control', 'connection', 'content-length', 'content-type', 'date']

test.each(rows)('answers $error where $when', async ({ error, request, headers = {} }) => {
  const before = storedPlants(database)
  const [method, path, body, { ...sent } = {}] = request
  if (sent.authorization) sent.authorization = sent.authorization.replace(READER, reader)

  const answer = await fetch(`${daemon.url}${path}`, {
    method,
    ...(body === undefined ? {} : { body }),
    headers: sent,
  })

  await expectError(answer, error)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  const own = [...answer.headers].filter(
    ([name]) => !common.includes(name) && name !== 'x-content-type-options',
  )
  expect(Object.fromEntries(own)).toEqual(headers)
  expect(storedPlants(database)).toEqual(before)
})

test('answers 50301 with Retry-After if more bodies arrive than it can hold', async () => {
  const large = 24 * 1024 * 1024
  await using busy = await startDaemon({
    database: folder.file('busy.db'),
    args: ['--max-body-bytes', String(large)],
  })
  await using upload = await connect(busy.url)
  const headers = { authorization, 'content-type': json, 'content-length': String(large) }
  upload.write(head('POST /plants', headers))
  const body = `{"id":7,"name":"Large"}`.padEnd(large)
  upload.write(body.slice(0, -8))
  // The upload is known to be read, but for its end, once a second body finds no room.
  let answer = await busy.create(plant.padEnd(10_000))
  for (let id = 10; answer.status === 200; id++) {
    answer = await busy.create(`{"id":${id},"name":""}`.padEnd(10_000))
  }

  expect(answer.headers.get('retry-after')).toBe('1')
  await expectError(answer, 50301)
  const accepted = storedPlants(folder.file('busy.db')).length
  upload.write(body.slice(-8))
  expect(await upload.receive(/\r\n\r\n\{.*\}/)).toContain('HTTP/1.1 200')
  expect(storedPlants(folder.file('busy.db'))).toHaveLength(accepted + 1)
})
