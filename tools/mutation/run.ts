#!/usr/bin/env bun
// Tries mutants of a room's source on the room's tests, in a copy of the repository, and prints which survive:
// `bun tools/mutation/run.ts plant --sample 40`. A mutant that is not the same program and survives shows a missing test.

import {
  cpSync,
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

const root = resolve(import.meta.dir, '..', '..')

/** The tests of each room, the fastest first. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'engine/commit': [
    'engine/{accept,kinds,group-commit,group-commit-limits,plant-writes,last-use}.test.ts',
    'engine/store.test.ts',
    'cli/commands/accept.test.ts',
  ],
  'engine/sqlite': [
    'engine/sqlite/{settle,plants,long-reads,reserve,change-log}.test.ts',
    'engine/store.test.ts',
    'engine/sqlite/{failure,triggers,schema,check-thread}.test.ts',
    'engine/sqlite/{open,migration,crash}.test.ts',
    'cli/commands/{backup,restore,token}.test.ts',
    'slow/long/outage.test.ts',
  ],
  plant: [
    'plant',
    'engine/kinds.test.ts',
    'engine/store.test.ts',
    'http/{create,fields,list,find,order,read,patch,precondition,batch,put-batch,change}.test.ts',
  ],
  'change-log': [
    'change-log',
    'cli/commands/accept.test.ts',
    'http/{changes,followers}.test.ts',
    'engine/sqlite/change-log.test.ts',
    'slow/long/change-log.test.ts',
  ],
  'http/access': [
    'http/{hash-cache,rate-limit,request-context,request-line}.test.ts',
    'http/{auth,cors,precondition,own-token,expiry,request-log,leaks}.test.ts',
    'engine/last-use.test.ts',
  ],
  'http/bodies': [
    'http/body-budget.test.ts',
    'http/{create,body-size,refused-body,expect,batch,patch,errors}.test.ts',
  ],
}

const LIMIT_MS = 120_000

/** A copy of the source and its tests, which is removed at the end. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'plantstore-mutation-'))
  for (const name of readdirSync(root)) {
    if (['.git', 'dist', 'bench'].includes(name)) continue
    if (name === 'node_modules') symlinkSync(join(root, name), join(copy, name))
    else cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  return copy
}

/** Runs tests in the copy. Resolves to true if all pass. */
async function passes(copy: string, tests: string): Promise<boolean> {
  const files = [...new Bun.Glob(`test/${tests}`).scanSync({ cwd: copy, onlyFiles: false })]
  if (files.length === 0) return true
  const child = Bun.spawn(
    [
      ...[process.execPath, 'test', '--bail', '--timeout=60000', '--path-ignore-patterns='],
      ...files.map((file) => `./${file}`),
    ],
    { cwd: copy, stdout: 'ignore', stderr: 'ignore', stdin: 'ignore', detached: true },
  )
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  const code = await child.exited
  clearTimeout(timer)
  try {
    // Daemons of a test that was killed.
    process.kill(-child.pid, 'SIGKILL')
  } catch {}
  return code === 0
}

/** A repeatable order: of each file, mutants from all of its parts. */
const shuffled = <T>(items: readonly T[], seed: number): T[] =>
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

async function isKilled(copy: string, { file, line, after }: Found, tests: readonly string[]) {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    text
      .split('\n')
      .with(line - 1, after)
      .join('\n'),
  )
  try {
    for (const test of tests) if (!(await passes(copy, test))) return true
    return false
  } finally {
    writeFileSync(path, text)
  }
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: '40' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
    },
  })
  const [room = ''] = positionals
  const tests = ROOMS[room]
  if (!tests) throw new Error(`give one of ${Object.keys(ROOMS).join(', ')}`)
  const copy = copyRepository()
  try {
    for (const test of tests) if (!(await passes(copy, test))) throw new Error(`${test} fails`)
    const all = findMutants(copy, room, values.only)
    const sample = shuffled(all, Number(values.seed)).slice(0, Number(values.sample))
    let killed = 0
    for (const mutant of sample) {
      const { file, line, before, after } = mutant
      if (await isKilled(copy, mutant, tests)) {
        killed += 1
        console.log(`killed ${file}:${line}`)
      } else console.log(`survived ${file}:${line}\n- ${before.trim()}\n+ ${after.trim()}`)
    }
    console.log(`${room}: ${killed} of ${sample.length} killed, of ${all.length} mutants`)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

if (import.meta.main) await run()
