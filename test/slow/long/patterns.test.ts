// Every pattern of the source takes time in proportion to its text: a client may send the text.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { root } from '../../harness/daemon'

const LENGTH = 2000
const GROWTH = 4
// Linear is 4, quadratic is 16.
const STEEPEST = 8
const TRIES = 8
// The square of the longer text is 10 ms at the least: what is far below is linear, and too short for the clock.
const SHORTEST_MS = 1

const LITERAL =
  /(?<![\w.)\]'"`*/<}])\/(?![/*\s])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuvy]*)/g
const OTHER_LINE = /^\s*(\/\/|\/?\*|import\b|\} from\b)/

/** The patterns that a source has as literals. */
function patternsOf(source: string): RegExp[] {
  const lines = source.split('\n').filter((line) => !OTHER_LINE.test(line))
  const found = lines.join('\n').matchAll(LITERAL)
  return [...found].map(([, pattern = '', flags]) => new RegExp(pattern, flags))
}

// Texts that match nearly: fast-check makes some that do, for patterns that do not look around (`\b` included), without these flags.
function nearly({ source, flags }: RegExp): string[] {
  const pattern = new RegExp(source.replace(/\(\?<?!.*?\)|\\b/g, ''), flags.replace(/[iy]/g, ''))
  return fc.sample(fc.stringMatching(pattern, { size: 'small' }), { numRuns: 6, seed: 1 })
}

/** Beginnings of matches, and the characters that are to be repeated behind them. */
function* attacks(pattern: RegExp): Generator<readonly [start: string, unit: string]> {
  const texts = nearly(pattern)
  const units = new Set([' ', '\t', '0', 'a', ...texts.map((text) => text.at(-1) ?? '')])
  const starts = new Set(texts.flatMap((text) => [...text].map((_, at) => text.slice(0, at + 1))))
  for (const start of ['', ...starts]) for (const unit of units) yield [start, unit]
}

function time(pattern: RegExp, text: string): number {
  const before = performance.now()
  text.replace(pattern, '')
  return performance.now() - before
}

/**
 * The factor of time for a text of four times the length: the smallest of several attempts, as other programs run too.
 */
function growth(pattern: RegExp, start: string, unit: string): number {
  const short = `${start}${unit.repeat(LENGTH)}\u0001`
  const long = `${start}${unit.repeat(LENGTH * GROWTH)}\u0001`
  let ratio = Number.POSITIVE_INFINITY
  for (let run = 0; run < TRIES && ratio > STEEPEST; run++) {
    const milliseconds = time(pattern, long)
    if (milliseconds < SHORTEST_MS) return 0
    ratio = Math.min(ratio, milliseconds / time(pattern, short))
  }
  return ratio
}

function findSteep(pattern: RegExp): string | null {
  for (const [start, unit] of attacks(pattern)) {
    if (growth(pattern, start, unit) > STEEPEST) return JSON.stringify([start, unit])
  }
  return null
}

test.each([
  { pattern: /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?;?[ \t]*$/i },
  { pattern: /^Bearer +([a-z]+) *=* *$/i },
  { pattern: /0+$/ },
])('finds that $pattern takes quadratic time', ({ pattern }) => {
  expect(findSteep(pattern)).not.toBeNull()
})

test('finds the patterns of a source', () => {
  const source = [
    "import { a } from '../b/c'",
    '// see /a/b/',
    "const A = /^[a/]+\\/$/i.test('/x/')",
    'const half = a / b / c',
    'text.replace(/x/g, `/y/`)',
    "const all = [import('./a'), import('./b')]",
  ]

  expect(patternsOf(source.join('\n')).map(String)).toEqual(['/^[a/]+\\/$/i', '/x/g'])
})

const files = [...new Bun.Glob('src/**/*.{ts,tsx}').scanSync(root)].sort()
const patterns = files.flatMap((file) =>
  patternsOf(readFileSync(join(root, file), 'utf8')).map((pattern) => ({ file, pattern })),
)

test.each(patterns)('$file: $pattern takes time in proportion to its text', ({ pattern }) => {
  expect(findSteep(pattern)).toBeNull()
})

test('builds no pattern at run time, which this test would not find', () => {
  const made = files.filter((file) => readFileSync(join(root, file), 'utf8').includes('RegExp('))

  expect(made).toEqual([])
})
