import { expect, test } from 'bun:test'
import { hashToken } from '../../src/token/token'
import { TOKEN } from '../harness/daemon'
import { connect, head } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database, createToken, revokeToken } = ownDaemon()

const post = (body: string, authorization: string | null, query = '') =>
  fetch(`${daemon.url}/plants${query}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) },
  })

test.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `BEARER ${TOKEN}`, `Bearer   ${TOKEN}`])(
  'accepts "%s"',
  async (authorization) => {
    const id = Bun.hash.crc32(authorization)

    expect((await post(`{"id":${id},"name":"Lily"}`, authorization)).status).toBe(200)
  },
)

test.each([
  ['no header', 40101, null],
  ['another scheme', 40101, `Basic ${btoa(`user:${TOKEN}`)}`],
  ['a token without a scheme', 40101, TOKEN],
  ['no space behind the scheme', 40101, `Bearer${TOKEN}`],
  ['a scheme with one letter more', 40101, `Bearerx ${TOKEN}`],
  ['another character than a space', 40101, `Bearer\t${TOKEN}`],
  ['a token that is unknown', 40102, 'Bearer pst_0123456789abcdef'],
  ['the first part of a token', 40102, `Bearer ${TOKEN.slice(0, -1)}`],
  ['a token and more', 40102, `Bearer ${TOKEN}x`],
  ['two tokens', 40102, `Bearer ${TOKEN} ${TOKEN}`],
  ['a parameter behind a token', 40102, `Bearer ${TOKEN}, realm="x"`],
  ['a token in quotes', 40102, `Bearer "${TOKEN}"`],
  ['a token in other case', 40102, `Bearer ${TOKEN.toUpperCase()}`],
  ['the hash of a token', 40102, `Bearer ${hashToken(TOKEN)}`],
  ['the scheme alone', 40102, 'Bearer'],
  ['a token of 8,000 characters', 40102, `Bearer ${'a'.repeat(8000)}`],
] as const)('refuses %s', async (_, error, authorization) => {
  const before = storedPlants(database)

  await expectError(await post('{"id":1,"name":"Lily"}', authorization), error)
  expect(storedPlants(database)).toEqual(before)
})

test('reads a token only from the header', async () => {
  const query = `?access_token=${TOKEN}`
  const body = `{"id":2,"name":"Lily","access_token":"${TOKEN}"}`
  const form = await fetch(`${daemon.url}/plants`, {
    method: 'POST',
    body: new URLSearchParams({ access_token: TOKEN }),
    headers: { cookie: `access_token=${TOKEN}`, 'x-access-token': TOKEN },
  })

  await expectError(await post(body, null, query), 40101)
  await expectError(await post(body, 'Bearer unknown', query), 40102)
  await expectError(form, 40101)
  await expectError(await fetch(`${daemon.url}/plants${query}`), 40101)
  expect(storedPlants(database).map(({ id }) => id)).not.toContain(2n)
})

test('refuses two headers, even if one is valid', async () => {
  const body = '{"id":3,"name":"Lily"}'
  await using connection = await connect(daemon.url)
  connection.write(
    head(`POST /plants`, {
      Authorization: `Bearer ${TOKEN}`,
      authorization: 'Bearer pst_0123456789abcdef',
      'content-type': 'application/json',
      'content-length': String(body.length),
    }) + body,
  )

  expect(await connection.receive(/\}$/)).toStartWith('HTTP/1.1 40')
  expect(storedPlants(database).map(({ id }) => id)).not.toContain(3n)
})

test.each([
  ['GET', '/plants'],
  ['HEAD', '/plants'],
  ['GET', '/plants/1'],
  ['PUT', '/plants/1'],
  ['DELETE', '/plants/1'],
  ['POST', '/plants/batch'],
  ['POST', '/plants/batch-delete'],
  ['GET', '/metrics'],
  ['GET', '/status'],
  ['GET', '/tags'],
])('asks for credentials: %s %s', async (method, path) => {
  const answer = await fetch(`${daemon.url}${path}`, { method })

  expect(answer.status).toBe(401)
  expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="plantstore"')
})

test('refuses a revoked token from the next request on, although it was just used', async () => {
  const headers = { authorization: `Bearer ${await createToken('leaving')}` }
  const read = () => fetch(`${daemon.url}/plants`, { headers })
  const answers = await Promise.all(Array.from({ length: 20 }, read))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))

  await revokeToken('leaving')

  await expectError(await read(), 40102)
})

test('answers GET /health without a token', async () => {
  const answer = await fetch(`${daemon.url}/health`)

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.text()).toBe('{"status":"ok"}')
  const wrong = { headers: { authorization: 'Bearer wrong' } }
  expect((await fetch(`${daemon.url}/health`, wrong)).status).toBe(200)
})
