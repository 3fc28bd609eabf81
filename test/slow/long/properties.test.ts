// Properties of every request, checked with random ones.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TOKEN } from '../../harness/daemon'
import { type Answer, createClient } from '../../harness/http'
import { own } from '../../harness/own'
import { ownDaemon } from '../../harness/own-daemon'
import { storedPlants } from '../../harness/plants'
import { bare, request } from '../../hostile/case'
import { faultOfError, faultOfHead } from '../../hostile/expect'
import { judge, type OraclePlant } from '../../hostile/oracle'

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

const exactly = ({ id, name, tag }: OraclePlant) => [{ id, name, tag: tag ?? null }]

/** Sends a create, compares the answer and the store with the oracle, and deletes the plant. */
async function expectVerdict(body: Uint8Array): Promise<void> {
  const sent = request({ body })
  const verdict = judge(body)
  const answer = await exchange(sent)
  if (verdict === null) throw new Error('the body is nested too deep')
  if (typeof verdict === 'number') {
    expect(expectError(answer, sent)).toBe(verdict)
    expect(storedPlants(database)).toEqual([])
    return
  }
  const { id, name, tag } = verdict
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 200,
    body: JSON.stringify({ name, tag }),
  })
  expect(storedPlants(database)).toEqual(exactly(verdict))
  const read = await exchange(bare(`GET /plants/${id}`))
  expect(read.body).toBe(`{"id":${id},${JSON.stringify({ name, tag }).slice(1)}`)
  expect((await exchange(bare(`DELETE /plants/${id}`))).status).toBe(204)
}

const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 53n) - 3n, max: -(2n ** 53n) + 3n }),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
  fc.bigInt({ min: -20n, max: 20n }),
)

// Any 16-bit units: unpaired surrogates and U+0000 too.
const units = fc
  .array(fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd7ff, max: 0xe000 }), fc.nat(0x80)))
  .map((codes) => String.fromCharCode(...codes))
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), units)

const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.bigInt({ min: 0n, max: 2n ** 66n }),
    fc.constantFrom('', '.0', '.5', '.10', '.000', '.25'),
    fc.oneof(
      fc.constant(''),
      fc.integer({ min: -25, max: 25 }).map((exponent) => `e${exponent}`),
    ),
  )
  .map((parts) => parts.join(''))

const json: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    numberText,
    text.map((it) => JSON.stringify(it)),
    fc.constantFrom('null', 'true', 'false', '0', '-0', '1e3', '""', '[]', '{}'),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(
        fc.tuple(
          fc.oneof(fc.constantFrom('id', 'name', 'tag', '__proto__', 'plants'), text),
          tie('value'),
        ),
        { maxLength: 6 },
      )
      .map((fields) => `{${fields.map(([key, it]) => `${JSON.stringify(key)}:${it}`).join(',')}}`),
  ),
})).value

test('any plant is stored as sent, unless no database can hold it', async () => {
  const plant = fc.record({ name: text, tag: fc.option(text, { nil: undefined }) })

  await fc.assert(
    fc.asyncProperty(int64, plant, async (id, rest) => {
      await expectVerdict(toBytes(`{"id":${id},${JSON.stringify(rest).slice(1)}`))
    }),
    RUNS,
  )
})

test('a number is accepted as an id only if it is an int64', async () => {
  await fc.assert(
    fc.asyncProperty(numberText, async (id) => {
      await expectVerdict(toBytes(`{"id":${id},"name":"a"}`))
    }),
    RUNS,
  )
})

test('any JSON is a plant, or refused', async () => {
  await fc.assert(
    fc.asyncProperty(json, async (body) => {
      await expectVerdict(toBytes(body))
    }),
    RUNS,
  )
})

test('unknown fields are ignored, whatever they hold', async () => {
  const field = fc.tuple(
    text.filter((key) => !['id', 'name', 'tag'].includes(key)),
    json,
  )

  await fc.assert(
    fc.asyncProperty(int64, fc.array(field, { maxLength: 5 }), async (id, fields) => {
      const more = fields.map(([key, value]) => `${JSON.stringify(key)}:${value},`).join('')
      await expectVerdict(toBytes(`{"id":${id},${more}"name":"a"}`))
    }),
    RUNS,
  )
})

test('any bytes are a plant, or refused', async () => {
  const start = toBytes('{"id":10,"name":"')

  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.boolean(), async (bytes, isName) => {
      await expectVerdict(isName ? Buffer.concat([start, bytes, toBytes('"}')]) : bytes)
    }),
    RUNS,
  )
})

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
