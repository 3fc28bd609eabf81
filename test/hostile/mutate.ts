/** Random numbers that a seed repeats: a whole number from 0 to below `bound`. */
export type Random = (bound: number) => number

/** Mulberry32, by Tommy Ettinger. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * bound)
  }
}

export const pick = <Item>(random: Random, items: readonly Item[]): Item => {
  const item = items[random(items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

const NUMBERS = [
  '0',
  '-0',
  '00',
  '1.0',
  '1.5',
  '1e3',
  '1e19',
  '1e-400',
  '1E+2',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '-9223372036854775809',
  '92233720368547758070e-1',
  '9223372036854775807.0',
  '0.1e1',
  '1e400',
  'NaN',
  '0x10',
  '"5"',
  'null',
  '1'.repeat(400),
  `1${'0'.repeat(300)}e-300`,
]

const TOKENS = [
  ...NUMBERS,
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
  '\\u006',
  '\\x41',
  '\0',
  '\n',
  '\t',
  '\u2028',
  '\ufeff',
  '🌵',
  'true',
  'false',
  '"id":',
  '"id":7,',
  '"name":',
  '"name":"b",',
  '"tag":null,',
  '"__proto__":{"id":1},',
  '"constructor":1,',
  '"plants":[{"id":1}],',
  '"\\u0069d":3,',
  '/**/',
  ' '.repeat(50),
  '['.repeat(200),
  '{"a":'.repeat(100),
  'a'.repeat(500),
].map((text) => Buffer.from(text))

const LETTERS = [
  '',
  '\\ud83c\\udf35',
  '\\ud800',
  '\\u0000',
  '\\udc00\\ud800',
  '\\"',
  '\\/',
  '\\u0041',
  '🌵',
  '\ufeff',
  '\u007f',
]

const KEYS = [
  'id',
  'name',
  'tag',
  'Id',
  '',
  '\\u0069d',
  '__proto__',
  'constructor',
  'id ',
  '\\ud800',
]

const BYTES = [0x00, 0x1f, 0x22, 0x5c, 0x7f, 0x80, 0xbf, 0xc0, 0xc3, 0xed, 0xf0, 0xf4, 0xfe, 0xff]

type Mutation = (bytes: Buffer, random: Random) => Buffer

const splice = (bytes: Buffer, from: number, to: number, by: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)])

const NONE = new Uint8Array()

/** Those that leave it JSON, mostly. */
const gentle: readonly Mutation[] = [
  function replaceNumber(bytes, random) {
    const text = bytes.toString('latin1')
    return Buffer.from(text.replace(/-?\d[\d.eE+-]*/, pick(random, NUMBERS)), 'latin1')
  },
  function insertField(bytes, random) {
    const at = bytes.indexOf('{') + 1
    return splice(bytes, at, at, Buffer.from(`"${pick(random, ['id', 'name', 'tag', 'x'])}":1,`))
  },
  function wrap(bytes, random) {
    const [open, close] = pick(random, [
      ['[', ']'],
      ['{"plant":', '}'],
      ['{"plants":[', ']}'],
      [' \r\n', '\t '],
      ['\ufeff', ''],
      ['"', '"'],
    ] as const)
    return Buffer.concat([Buffer.from(open), bytes, Buffer.from(close)])
  },
  function replaceLetters(bytes, random) {
    const text = bytes.toString('utf8')
    return Buffer.from(text.replace(/[a-zA-Z]{1,4}\d+/, pick(random, LETTERS)))
  },
  function replaceKey(bytes, random) {
    const text = bytes.toString('utf8')
    return Buffer.from(text.replace(/"(id|name|tag)":/, `"${pick(random, KEYS)}":`))
  },
]

const rough: readonly Mutation[] = [
  ...gentle,
  function flipBit(bytes, random) {
    const copy = Buffer.from(bytes)
    const at = random(copy.length)
    copy[at] = (copy[at] ?? 0) ^ (1 << random(8))
    return copy
  },
  function setByte(bytes, random) {
    const copy = Buffer.from(bytes)
    copy[random(copy.length)] = random(2) ? pick(random, BYTES) : random(256)
    return copy
  },
  function insertByte(bytes, random) {
    const at = random(bytes.length + 1)
    return splice(bytes, at, at, new Uint8Array([pick(random, BYTES)]))
  },
  function truncate(bytes, random) {
    return bytes.subarray(0, random(bytes.length))
  },
  function behead(bytes, random) {
    return bytes.subarray(random(bytes.length))
  },
  function cutOut(bytes, random) {
    const at = random(bytes.length)
    return splice(bytes, at, at + 1 + random(8), NONE)
  },
  function insertToken(bytes, random) {
    const at = random(bytes.length + 1)
    return splice(bytes, at, at, pick(random, TOKENS))
  },
  function replaceByToken(bytes, random) {
    const at = random(bytes.length)
    return splice(bytes, at, at + random(6), pick(random, TOKENS))
  },
  function duplicate(bytes, random) {
    const at = random(bytes.length)
    return splice(bytes, at, at, bytes.subarray(at, at + 1 + random(30)))
  },
  function swap(bytes, random) {
    const [a, b] = [random(bytes.length), random(bytes.length)].sort((x, y) => x - y)
    const [from = 0, to = 0] = [a, b]
    return Buffer.concat([bytes.subarray(to), bytes.subarray(from, to), bytes.subarray(0, from)])
  },
]

/** A body that is one to four mutations away from another. */
export function mutate(bytes: Buffer, random: Random): Buffer {
  const mutations = random(2) ? gentle : rough
  let mutated = bytes
  for (let count = 1 + random(4); count > 0; count--) {
    if (mutated.length === 0) return mutated
    mutated = pick(random, mutations)(mutated, random)
  }
  return mutated
}
