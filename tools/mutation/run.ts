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
// A test that takes this much longer than usual hangs.
const SLOWER = 4
const SLOWER_MS = 15_000
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
  // Tests that failed on a mutant: true if they pass without one.
  const isSound = new Map<string, boolean>()

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

  async function checkSound(test: string): Promise<boolean> {
    const isPassed = (await runIn(copy, commandOf(test), MAX_MS)) === 'passed'
    isSound.set(test, isPassed)
    if (!isPassed) console.log(`left out: ${test} fails without a mutant`)
    return isPassed
  }

  /** The test that notices a mutant; null: none. */
  return async (mutant: Found): Promise<string | null> => {
    let left = budgetMs
    for (const test of near(mutant.file)) {
      const usual = timeOf(test)
      if (isSound.get(test) === false || (usual ?? 0) > left) continue
      const begin = performance.now()
      const limit = usual === undefined ? left : SLOWER_MS + SLOWER * usual
      const end = await runOn(mutant, commandOf(test), limit)
      const time = performance.now() - begin
      const isKilled = end === 'failed' || (end === 'too slow' && usual !== undefined)
      if (isKilled && (isSound.get(test) ?? (await checkSound(test)))) {
        killedBy(test)
        return test
      }
      if (isKilled) continue
      took(test, time)
      left -= time
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
