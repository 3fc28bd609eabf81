#!/usr/bin/env bun
// Tries mutants of rooms on their nearest tests, in a copy of the repository, and prints those that survive:
// `bun tools/mutation/run.ts plant http/bodies --sample 40 --seed 1`. Without a room, tries all.

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
import { type Mutant, mutantsOf } from './mutants'
import { createRanking } from './ranking'

const root = resolve(import.meta.dir, '..', '..')

const ROOMS = [
  'engine/commit',
  'engine/sqlite',
  'plant',
  'change-log',
  'http/access',
  'http/bodies',
] as const

/** A copy of the source and its tests, which is removed at the end. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'plantstore-mutation-'))
  for (const name of readdirSync(root)) {
    if (['.git', 'dist', 'bench'].includes(name)) continue
    if (name === 'node_modules') symlinkSync(join(root, name), join(copy, name))
    else cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  mkdirSync(join(copy, 'tmp'))
  return copy
}

type End = 'passed' | 'failed' | 'too slow'

/** Runs a command in the copy, for at most this time. */
async function runIn(copy: string, command: readonly string[], limitMs: number): Promise<End> {
  const child = Bun.spawn([...command], {
    cwd: copy,
    env: { ...Bun.env, TMPDIR: join(copy, 'tmp') },
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  })
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
  return isOver ? 'too slow' : code === 0 ? 'passed' : 'failed'
}

const MAX_MS = 120_000
// A test that takes longer hangs.
const slowest = (usualMs: number): number => 8000 + 4 * usualMs
const TSC = ['node_modules/.bin/tsc']
const commandOf = (test: string) => [
  ...[process.execPath, 'test', '--bail', '--timeout=60000', '--path-ignore-patterns='],
  `./${test}`,
]

/** A repeatable order: of each file, mutants from all of its parts. */
const shuffled = <T>(items: readonly T[], seed: string): T[] =>
  items
    .map((item, index) => ({ item, key: Bun.hash(`${seed} ${index}`) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item)

type Found = Mutant & { readonly file: string }

function findMutants(copy: string, room: string, only: string): Found[] {
  const files = readdirSync(join(copy, 'src', room), { recursive: true })
    .map((name) => join('src', room, String(name)))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && name.includes(only))
    .sort()
  return files.flatMap((file) =>
    mutantsOf(readFileSync(join(copy, file), 'utf8')).map((mutant) => ({ ...mutant, file })),
  )
}

/** Tries mutants in a copy, on the tests of about this time each. */
function createTrial(copy: string, budgetMs: number) {
  const { near, killedBy, took, timeOf } = createRanking(copy)
  // The times without a mutant of the tests that failed on one; null: they fail without one.
  const sound = new Map<string, number | null>()

  async function runOn({ file, mutated }: Found, command: readonly string[], limitMs: number) {
    const path = join(copy, file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, mutated)
    try {
      return await runIn(copy, command, limitMs)
    } finally {
      writeFileSync(path, text)
    }
  }

  /** The time of a test without a mutant; null if it fails. */
  async function measure(test: string): Promise<number | null> {
    const known = sound.get(test)
    if (known !== undefined) return known
    const begin = performance.now()
    const isPassed = (await runIn(copy, commandOf(test), MAX_MS)) === 'passed'
    const time = isPassed ? performance.now() - begin : null
    sound.set(test, time)
    if (time === null) console.log(`left out: ${test} fails without a mutant`)
    else took(test, time)
    return time
  }

  /** True if a test fails on a mutant, or hangs; and again, as a loaded machine may fail it. */
  async function isKilled(mutant: Found, test: string, limitMs: number): Promise<boolean> {
    const begin = performance.now()
    if ((await runOn(mutant, commandOf(test), limitMs)) === 'passed') {
      took(test, performance.now() - begin)
      return false
    }
    const usual = await measure(test)
    if (usual === null) return false
    return (await runOn(mutant, commandOf(test), slowest(usual))) !== 'passed'
  }

  /** The test that notices a mutant; null: none. */
  return async (mutant: Found): Promise<string | null> => {
    let left = budgetMs
    for (const test of near(mutant.file)) {
      if (sound.get(test) === null || (timeOf(test) ?? 0) > left) continue
      const time = timeOf(test)
      if (await isKilled(mutant, test, time === undefined ? left : slowest(time))) {
        killedBy(test)
        return test
      }
      left -= timeOf(test) ?? 0
    }
    return (await runOn(mutant, TSC, MAX_MS)) === 'passed' ? null : 'tsc'
  }
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: '40' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      seconds: { type: 'string', default: '30' },
    },
  })
  const copy = copyRepository()
  try {
    const tryMutant = createTrial(copy, Number(values.seconds) * 1000)
    const table: Record<string, string | number>[] = []
    for (const room of positionals.length > 0 ? positionals : ROOMS) {
      const all = findMutants(copy, room, values.only)
      const sample = shuffled(all, values.seed).slice(0, Number(values.sample))
      let killed = 0
      for (const mutant of sample) {
        const { file, line, before, after } = mutant
        const killer = await tryMutant(mutant)
        if (killer) killed += 1
        console.log(
          killer
            ? `killed ${file}:${line} by ${killer}`
            : `survived ${file}:${line}\n- ${before.trim()}\n+ ${after.trim()}`,
        )
      }
      table.push({ room, mutants: all.length, tried: sample.length, killed })
    }
    console.table(table)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

if (import.meta.main) await run()
