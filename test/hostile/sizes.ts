import {
  type Body,
  type Case,
  chunked,
  concat,
  create,
  type Outcome,
  type Row,
  request,
  toBytes,
} from './case'

/** Cases of creates that differ only in their bodies. */
const bodies = (rows: readonly (readonly [string, Body, Outcome])[]): Case[] =>
  rows.map(([name, body, outcome]) => create(name, outcome, { body }))

/** The limit of a body where no other is configured. */
const LIMIT = 1_048_576

const START = '{"id":10,"name":"'

/** A plant whose body is so many bytes long, and the body. */
function plantOf(size: number, letter = 'a'): { body: string; row: Row } {
  const room = size - START.length - '"}'.length
  const width = toBytes(letter).length
  const name = letter.repeat(Math.floor(room / width)) + 'a'.repeat(room % width)
  return { body: `${START}${name}"}`, row: [10, name] }
}

const exact = plantOf(LIMIT)
const exactWide = plantOf(LIMIT, '🌵')
const tooLong = plantOf(LIMIT + 1)
const small = '{"id":10,"name":"a"}'
const spaces = (count: number): string => ' '.repeat(count)

function inChunksOf(size: number, body: Body): Uint8Array {
  const bytes = toBytes(body)
  const parts: Body[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size)
    parts.push(`${part.length.toString(16)}\r\n`, part, '\r\n')
  }
  return concat(...parts, '0\r\n\r\n')
}

/** A body in chunks, where the framing is of the case's own. */
const inChunks = (name: string, outcome: number | Row, sent: Uint8Array): Case =>
  create(name, outcome, { body: sent, framing: 'none', fields: ['Transfer-Encoding: chunked'] })

const announced = (name: string, length: string, error: number): Case => ({
  name,
  bytes: request({ fields: ['Content-Type: application/json', `Content-Length: ${length}`] }),
  answers: [error],
  after: 'closed',
})

const nest = (open: string, inner: string, close: string, levels: number): string =>
  open.repeat(levels) + inner + close.repeat(levels)

const within = (value: string): string => `{"id":10,"name":"a","x":${value}}`

/** Bodies around the limit, and bodies that nest. */
export const sizes: readonly Case[] = [
  ...bodies([
    ['accepts a body of exactly the limit', exact.body, exact.row],
    [
      'accepts a body of exactly the limit whose letters have four bytes',
      exactWide.body,
      exactWide.row,
    ],
    ['refuses a body of one byte more than the limit', tooLong.body, 41301],
    ['refuses a body over the limit that is not JSON', 'x'.repeat(LIMIT + 1), 41301],
    [
      'refuses a body of the limit in backslashes',
      `{"id":10,"name":"${'\\'.repeat(LIMIT - 17)}`,
      40001,
    ],
  ]),
  inChunks(
    'accepts a body of exactly the limit in chunks of 1,000',
    exact.row,
    inChunksOf(1000, exact.body),
  ),
  inChunks('refuses one byte more in chunks of 1,000', 41301, inChunksOf(1000, tooLong.body)),
  inChunks(
    'accepts a body whose letters are cut by chunks',
    [10, '🌵é'],
    inChunksOf(1, '{"id":10,"name":"🌵é"}'),
  ),
  inChunks('accepts 1,500 chunks of one byte', [10, 'a'], inChunksOf(1, small + spaces(1480))),
  {
    ...inChunks('refuses 20,000 chunks of one byte', 41301, inChunksOf(1, small + spaces(19_980))),
    after: 'closed',
  },
  inChunks('refuses a body without a chunk', 40001, chunked('').subarray(5)),
  announced('refuses a length of one more than the limit before it is sent', `${LIMIT + 1}`, 41301),
  announced('refuses a length of more than 1 TiB before it is sent', `${2 ** 40 + 1}`, 41301),
  announced('closes at a length of 2^53', `${2n ** 53n}`, 413),
  announced('closes at a length of 2^64 and 20', `${2n ** 64n + 20n}`, 400),
  announced('closes at a length of 1,000 digits', '9'.repeat(1000), 400),
  ...bodies([
    [
      'ignores 500 levels of objects with ids',
      within(nest('{"id":9007199254740993,"a":', '1', '}', 500)),
      [10, 'a'],
    ],
    [
      'ignores 10,000 levels of __proto__',
      within(nest('{"__proto__":', '1', '}', 10_000)),
      [10, 'a'],
    ],
    [
      'refuses 100,000 levels beside an id that is not safe',
      `{"id":9007199254740993,"name":"a","x":${nest('[', '', ']', 100_000)}}`,
      40001,
    ],
    ['ignores 500,000 levels of arrays', within(nest('[', '', ']', 500_000)), [10, 'a']],
    ['refuses 100,000 levels of arrays that do not end', '['.repeat(100_000), 40001],
    ['refuses 10,000 levels of arrays as a body', nest('[', '', ']', 10_000), 40002],
    ['refuses 10,000 levels as an id', `{"id":${nest('[', '1', ']', 10_000)},"name":"a"}`, 40002],
  ]),
]
