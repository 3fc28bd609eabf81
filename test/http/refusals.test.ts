// Each error of a request, with its headers, and the order of the checks.
import { beforeAll, expect, test } from 'bun:test'
import { TOKEN } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database, createToken } = ownDaemon({ args: ['--max-body-bytes', '100'] })
const tokens = { valid: TOKEN, unknown: 'pst_unknown_0123456789', reader: '' }
beforeAll(async () => {
  tokens.reader = await createToken('reader', '--scope', 'read')
  await daemon.create(1)
})

type Sent = {
  readonly token?: keyof typeof tokens
  readonly body?: string
  readonly type?: string
  readonly encoding?: string
}
type Row = [error: number, what: string, line: string, sent: Sent, headers?: object]

const plant = '{"id":2,"name":"Lily"}'
const large = 'no JSON'.padEnd(101)
// Wrong in every way that is checked after the path, the method and the credentials.
const worst = { type: 'text/plain', body: large }

const realm = 'Bearer realm="plantstore"'
const challenge = { 'www-authenticate': realm }
const invalidToken = { 'www-authenticate': `${realm}, error="invalid_token"` }
const insufficient = {
  'www-authenticate': `${realm}, error="insufficient_scope", scope="write"`,
}

const errors: Row[] = [
  [
    41501,
    'a body is encoded',
    'POST /plants',
    { token: 'valid', body: plant, encoding: 'gzip' },
    { 'accept-encoding': 'identity' },
  ],
  [
    41501,
    'a body of another type is encoded, too',
    'POST /plants',
    { token: 'valid', body: plant, type: 'text/plain', encoding: 'gzip' },
  ],
]

// Each request is wrong in the way that is tested and in every way that is checked later.
const order: Row[] = [
  [40401, 'the path is checked before the method', 'PATCH /plant', worst],
  [40401, 'the path is checked before credentials', 'POST /plants/', worst],
  [
    40501,
    'the method is checked before credentials',
    'PATCH /plants',
    worst,
    { allow: 'POST, GET, HEAD' },
  ],
  [40101, 'credentials are checked before the type', 'POST /plants', worst, challenge],
  [
    40102,
    'a token is checked before the type',
    'POST /plants',
    { ...worst, token: 'unknown' },
    invalidToken,
  ],
  [
    40301,
    'the scope is checked before the type',
    'POST /plants',
    { ...worst, token: 'reader' },
    insufficient,
  ],
  [41501, 'the type is checked before the size', 'POST /plants', { ...worst, token: 'valid' }],
  [
    41301,
    'the size is checked before the content',
    'POST /plants',
    { token: 'valid', body: large },
  ],
  [
    40001,
    'JSON is checked before the fields',
    'POST /plants',
    { token: 'valid', body: '{"id":1,"name":}' },
  ],
  [
    40002,
    'fields are checked before a conflict',
    'POST /plants',
    { token: 'valid', body: '{"id":1,"name":null}' },
  ],
  [40101, 'credentials are checked before the id of a path', 'GET /plants/x', {}, challenge],
  [
    40301,
    'the scope is checked before the id of a path',
    'DELETE /plants/x',
    { token: 'reader' },
    insufficient,
  ],
  [40101, 'credentials are checked before parameters', 'GET /plants?limit=0', {}, challenge],
  [
    40002,
    'the fields are checked before the plant',
    'PUT /plants/404',
    { token: 'valid', body: '{"name":5}' },
  ],
  [40101, 'credentials are checked for a batch', 'POST /plants/batch', worst, challenge],
  [41301, 'the size of a batch is checked', 'POST /plants/batch', { token: 'valid', body: large }],
]

// Headers of every answer, with those that the connection adds.
const COMMON = [
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'x-content-type-options',
]

test.each([...errors, ...order])(
  'the daemon returns %d: %s',
  async (error, _, line, sent, headers = {}) => {
    const [method = '', path] = line.split(' ')
    const { token, body, type = 'application/json', encoding } = sent

    const response = await fetch(`${daemon.url}${path}`, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: {
        'content-type': type,
        ...(token ? { authorization: `Bearer ${tokens[token]}` } : {}),
        ...(encoding ? { 'content-encoding': encoding } : {}),
      },
    })

    await expectError(response, error)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    const own = [...response.headers].filter(([name]) => !COMMON.includes(name))
    expect<object>(Object.fromEntries(own)).toEqual(headers)
    expect(storedPlants(database)).toEqual([{ id: 1n, name: 'Rose', tag: null }])
  },
)
