// Properties of every head of a request, checked with random ones. test/hostile/random.test.ts does the same with bodies.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TOKEN } from '../../harness/daemon'
import { type Answer, createClient } from '../../harness/http'
import { own } from '../../harness/own'
import { ownDaemon } from '../../harness/own-daemon'
import { storedPlants } from '../../harness/plants'
import { bare, request } from '../../hostile/case'
import { faultOfError, faultOfHead } from '../../hostile/expect'

const RUNS = { numRuns: 300 }

const { daemon, database } = ownDaemon()
const client = own(
  () => createClient(daemon.port),
  (made) => made.end(),
)

async function exchange(bytes: Uint8Array): Promise<Answer> {
  const answer = await client.exchange(bytes)
  if (!answer) throw new Error('the daemon closed the connection without an answer')
  return answer
}

/** Expects a 4xx with exactly an Error that echoes nothing; returns its number. */
function expectError(answer: Answer, sent: Uint8Array): number {
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect(answer.status).toBeLessThan(500)
  expect(faultOfError(answer.body, sent)).toBeNull()
  expect(faultOfHead(answer)).toBeNull()
  const { error } = JSON.parse(answer.body)
  expect(Math.floor(error / 100)).toBe(answer.status)
  return error
}

// The bytes that the parser of a head lets through.
const fieldText = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff })))
  .map((bytes) => String.fromCharCode(...bytes))

test('no Authorization is accepted but Bearer with the token', async () => {
  const piece = fc.constantFrom(
    'Bearer',
    'bearer',
    'X',
    ' ',
    '\t',
    TOKEN,
    TOKEN.slice(1),
    ',',
    '=',
    '"',
  )
  const value = fc.oneof(
    fieldText,
    fc.array(fc.oneof(piece, fieldText), { maxLength: 5 }).map((pieces) => pieces.join('')),
    fieldText.map((token) => `Bearer ${token}`),
    fc.array(piece, { maxLength: 2 }).map((pieces) => `Bearer${pieces.join('')}${TOKEN}`),
    fc.array(piece, { minLength: 3, maxLength: 3 }).map((pieces) => pieces.join('')),
  )

  await fc.assert(
    fc.asyncProperty(value, async (authorization) => {
      const sent = bare('GET /plants/1', { authorization })
      const answer = await exchange(sent)
      const trimmed = authorization.replace(/^[ \t]+|[ \t]+$/g, '')
      const isRight = /^bearer +[^ ]+$/i.test(trimmed) && trimmed.split(/ +/)[1] === TOKEN
      expect(isRight ? [40402] : [40101, 40102]).toContain(expectError(answer, sent))
    }),
    RUNS,
  )
})

test('no path, query or host causes a 5xx', async () => {
  const letters = 'plants/1?&=#%.~\\:;@[]{}|^*+-_0aF\xe9\xff'
  const target = fc
    .array(
      fc.oneof(fc.constantFrom(...letters), fc.constantFrom('/plants', 'limit=', 'tag=', '..')),
    )
    .map((pieces) => `/${pieces.join('')}`)
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS')

  await fc.assert(
    fc.asyncProperty(method, target, fieldText, async (name, path, host) => {
      const sent = bare(`${name} ${path}`, { host })
      const answer = await exchange(sent)
      if (answer.status >= 300) expectError(answer, sent)
      expect(storedPlants(database)).toEqual([])
    }),
    RUNS,
  )
})

test('no content type is accepted but JSON in UTF-8', async () => {
  const piece = fc.constantFrom(
    'application/json',
    ';',
    ' ',
    'charset=',
    'utf-8',
    'latin1',
    '"',
    ',',
  )
  const value = fc.oneof(
    fieldText,
    fc.array(fc.oneof(piece, fieldText), { maxLength: 6 }).map((pieces) => pieces.join('')),
  )
  const right = /^application\/json[ \t]*(;[ \t]*(charset=("utf-8"|utf-8))?[ \t]*)*$/i

  await fc.assert(
    fc.asyncProperty(value, async (type) => {
      const sent = request({ body: '{', type })
      const error = expectError(await exchange(sent), sent)
      // Whatever is taken for JSON must be; an odd spelling of it may be refused.
      if (error !== 41501) expect(type.trim()).toMatch(right)
    }),
    RUNS,
  )
})

test('the daemon logged nothing unexpected', () => {
  expect(daemon.events().filter(({ event }) => event === 'unexpected')).toEqual([])
})
