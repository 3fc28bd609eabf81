// Creates with random bodies are answered and stored as the oracle says. RANDOM_BODIES says how many; 2000 by default.
import { expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { PATIENCE_MS } from '../harness/daemon'
import { createClient } from '../harness/http'
import { own } from '../harness/own'
import { ownDaemon } from '../harness/own-daemon'
import { storedPlants } from '../harness/plants'
import { request } from './case'
import { expectRefusal } from './expect'
import { judge, type OraclePlant } from './oracle'

const numRuns = Number(Bun.env.RANDOM_BODIES ?? 2000)
// A busy machine answers a few hundred of them a second.
const TIME_LIMIT_MS = 60_000 + 5 * numRuns
setDefaultTimeout(PATIENCE_MS + numRuns * 10)

const { daemon, database } = ownDaemon()
const client = own(
  () => createClient(daemon.port),
  (made) => made.end(),
)

const NUMBERS = [
  ...[
    '0',
    '-0',
    '00',
    '1.0',
    '1.5',
    '1e3',
    '1e19',
    '1e-400',
    '1E+2',
    '1e400',
    'NaN',
    '0x10',
    '"5"',
  ],
  ...['9007199254740993', '9223372036854775807', '9223372036854775808', '-9223372036854775809'],
  ...['92233720368547758070e-1', '9223372036854775807.0', '0.1e1', `1${'0'.repeat(300)}e-300`],
]
const PIECES = [
  ...NUMBERS,
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\"',
    '\\u0000',
    '\\ud800',
    '\\udc00',
    '\\ud83c\\udf35',
  ],
  ...[
    '\\u006',
    '\\x41',
    '\0',
    '\n',
    '\u2028',
    '\ufeff',
    '🌵',
    'true',
    'null',
    '/**/',
    ' '.repeat(50),
  ],
  ...[
    '"id":7,',
    '"name":"b",',
    '"tag":null,',
    '"__proto__":{"id":1},',
    '"\\u0069d":3,',
    '"x":{"id":1},',
  ],
  ...['"plants":[{"id":1}],', '['.repeat(200), '{"a":'.repeat(100), 'a'.repeat(500)],
].map((text) => Buffer.from(text))

const text = fc.oneof(
  fc.constantFrom('', 'Rosa', '苔 🌵', 'a\tb', '"id":1'),
  fc.string({ unit: 'binary' }),
)
const plain = fc
  .record({ id: fc.constantFrom(...NUMBERS, '1', '2', '3'), name: text, tag: fc.option(text) })
  .map(({ id, name, tag }) => {
    const fields = [`"name":${JSON.stringify(name)}`, `"id":${id}`, `"x":[{"id":null},1.50]`]
    return `{${[...fields, ...(tag === null ? [] : [`"tag":${JSON.stringify(tag)}`])]}}`
  })
const piece = fc.oneof(fc.constantFrom(...PIECES), fc.uint8Array({ maxLength: 2 }))
/** Replaces some bytes at a place, counted from the beginning or from the end. */
const edit = fc.tuple(fc.integer({ min: -40, max: 40 }), fc.nat(8), piece)

const body = fc.tuple(plain, fc.array(edit, { maxLength: 3 })).map(([start, edits]) =>
  edits.reduce<Buffer>((bytes, [place, removed, added]) => {
    const at = Math.max(0, place < 0 ? bytes.length + place : Math.min(place, bytes.length))
    return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)])
  }, Buffer.from(start)),
)

test(
  'creates with random bodies have the result that the oracle predicts',
  async () => {
    const acknowledged = new Map<bigint, OraclePlant>()
    const verdicts = new Set<unknown>()
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        const verdict = judge(bytes) ?? 40001
        const answer = await client.exchange(request({ body: bytes }))
        if (!answer) throw new Error('the daemon closed the connection without an answer')
        verdicts.add(typeof verdict === 'number' ? verdict : 200)
        if (typeof verdict === 'number') {
          expectRefusal(answer, verdict, bytes)
          return
        }
        const { id, name, tag } = verdict
        const stored = acknowledged.get(id)
        if (stored) {
          expectRefusal(answer, Bun.deepEquals(stored, verdict) ? 40901 : 40902, bytes)
          return
        }
        expect([answer.status, answer.body]).toEqual([200, JSON.stringify({ name, tag })])
        acknowledged.set(id, verdict)
      }),
      { numRuns, endOnFailure: true },
    )

    const stored = storedPlants(database).map(({ tag, ...plant }) =>
      tag === null ? plant : { ...plant, tag },
    )
    expect(verdicts).toEqual(new Set([200, 40001, 40002]))
    expect(stored).toEqual([...acknowledged.values()].sort((a, b) => (a.id < b.id ? -1 : 1)))
    expect(daemon.events().filter(({ event }) => event === 'unexpected')).toEqual([])
  },
  TIME_LIMIT_MS,
)
