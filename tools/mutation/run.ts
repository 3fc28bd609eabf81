#!/usr/bin/env bun
// Tries mutants of rooms on their nearest tests, in a copy of the repository, and prints those that survive:
// `bun tools/mutation/run.ts plant http/bodies --sample 40 --seed 1`. Without a room, tries all. First come all tests in
// one process, then at most `--tests` files of those that start daemons.

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import EQUIVALENT from './equivalent.json'
import { type Mutant, mutantsOf } from './mutants'
import { createNear } from './near'

const ROOT = resolve(import.meta.dir, '..', '..')

const ROOMS = [
  'engine/commit',
  'engine/sqlite',
  'plant',
  'change-log',
  'http/conditions',
  'http/tokens',
  'http/bodies',
] as const

/** A copy of the source and its tests, which is removed at the end. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'plantstore-mutation-'))
  for (const name of readdirSync(ROOT)) {
    if (['.git', 'dist', 'bench'].includes(name)) continue
    if (name === 'node_modules') symlinkSync(join(ROOT, name), join(copy, name))
    else cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  }
  mkdirSync(join(copy, 'tmp'))
  return copy
}

/** The failure of a run, and its test. */
type End = { readonly how: 'killed' | 'timed out'; readonly test: string }

/** Runs a command in the copy, for at most this time; null: it passes. */
async function runIn(
  copy: string,
  command: readonly string[],
  limitMs: number,
): Promise<End | null> {
  const child = Bun.spawn([...command], {
    cwd: copy,
    env: { ...Bun.env, TMPDIR: join(copy, 'tmp') },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const output = new Response(child.stderr).text()
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {}
  }
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    kill()
  }, limitMs)
  const code = await child.exited
  clearTimeout(timer)
  // Daemons of a test that failed.
  kill()
  if (code === 0 && !isOver) return null
  const test = [...(await output).matchAll(/^(\S+\.test\.ts):$/gm)].at(-1)?.[1] ?? 'tsc'
  return { how: isOver ? 'timed out' : 'killed', test }
}

const MAX_MS = 120_000
// A test that takes longer hangs.
const slowest = (usualMs: number): number => 8000 + 4 * usualMs
const TSC = ['node_modules/.bin/tsc']
const commandOf = (tests: readonly string[]) => [
  ...[process.execPath, 'test', '--bail', '--timeout=60000', '--path-ignore-patterns='],
  ...tests.map((test) => `./${test}`),
]

type FileMutant = Mutant & { readonly file: string }

/** A repeatable order, which changes elsewhere in the code leave alone. */
const shuffle = (mutants: readonly FileMutant[], seed: string): FileMutant[] =>
  mutants
    .map((mutant) => {
      const { file, before, after } = mutant
      return { mutant, key: Bun.hash([seed, file, before, after].join(' ')) }
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ mutant }) => mutant)

function findMutants(copy: string, room: string, only: string): FileMutant[] {
  const files = readdirSync(join(copy, 'src', room), { recursive: true })
    .map((name) => join('src', room, String(name)))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && name.includes(only))
    .sort()
  return files.flatMap((file) =>
    mutantsOf(readFileSync(join(copy, file), 'utf8')).map((mutant) => ({ ...mutant, file })),
  )
}

/** A mutant that no test can notice, by its lines without indentation. */
type Equivalent = Record<'file' | 'before' | 'after' | 'reason', string>

const isEquivalent = ({ file, before, after }: FileMutant): boolean =>
  EQUIVALENT.some(
    (known: Equivalent) =>
      known.file === file && known.before === before.trim() && known.after === after.trim(),
  )

/** Tries mutants in a copy. */
function createTrial(copy: string, maxFiles: number) {
  const near = createNear(copy)
  // The times of tests without a mutant; null: they fail.
  const usual = new Map<string, number | null>()

  async function runOn({ file, program }: FileMutant, command: readonly string[], limitMs: number) {
    const path = join(copy, file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, program)
    try {
      return await runIn(copy, command, limitMs)
    } finally {
      writeFileSync(path, text)
    }
  }

  /** Runs tests without a mutant, unless their time is known; null if they fail. */
  async function measure(tests: readonly string[]): Promise<number | null> {
    const key = tests.join(' ')
    const usualMs = usual.get(key)
    if (usualMs !== undefined) return usualMs
    const begin = performance.now()
    const end = await runIn(copy, commandOf(tests), MAX_MS)
    const time = end ? null : performance.now() - begin
    if (end) console.log(`left out, as ${end.test} fails without a mutant: ${key}`)
    usual.set(key, time)
    return time
  }

  /** The end of these tests on a mutant. A failure is repeated, because a loaded machine may cause one. */
  async function tryOn(mutant: FileMutant, tests: readonly string[]): Promise<End | null> {
    const usualMs = usual.get(tests.join(' '))
    if (tests.length === 0 || usualMs === null) return null
    const limit = usualMs === undefined ? MAX_MS : slowest(usualMs)
    if (!(await runOn(mutant, commandOf(tests), limit))) return null
    const time = await measure(tests)
    return time === null ? null : runOn(mutant, commandOf(tests), slowest(time))
  }

  /** The end that shows a mutant; null if it survives. */
  return async (mutant: FileMutant): Promise<End | null> => {
    const { inProcess, withDaemons } = near(mutant.file)
    const end = await tryOn(mutant, inProcess)
    if (end) return end
    for (const test of withDaemons.slice(0, maxFiles)) {
      const end = await tryOn(mutant, [test])
      if (end) return end
    }
    return runOn(mutant, TSC, MAX_MS)
  }
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: '40' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      tests: { type: 'string', default: '20' },
    },
  })
  const copy = copyRepository()
  try {
    const tryMutant = createTrial(copy, Number(values.tests))
    const table: Record<string, string | number>[] = []
    for (const room of positionals.length > 0 ? positionals : ROOMS) {
      const all = findMutants(copy, room, values.only)
      const sample = shuffle(all, values.seed).slice(0, Number(values.sample))
      const ends = { killed: 0, 'timed out': 0, equivalent: 0, survived: 0 }
      for (const mutant of sample) {
        const { file, line, before, after } = mutant
        const end = isEquivalent(mutant) ? null : await tryMutant(mutant)
        const how = end ? end.how : isEquivalent(mutant) ? 'equivalent' : 'survived'
        ends[how] += 1
        console.log(
          end
            ? `${how} ${file}:${line} by ${end.test}`
            : `${how} ${file}:${line}\n- ${before.trim()}\n+ ${after.trim()}`,
        )
      }
      const countable = sample.length - ends.equivalent
      const score = Math.round((100 * (countable - ends.survived)) / countable)
      table.push({ room, mutants: all.length, tried: sample.length, ...ends, score })
    }
    console.table(table)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

if (import.meta.main) await run()
