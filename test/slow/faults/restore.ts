// A restore that is killed at its system calls: the old database whole, the backup whole, or one clear line.
import { Database } from 'bun:sqlite'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { overwrite } from '../../harness/damage.ts'
import { type Daemon, launch, serve } from './daemon.ts'
import { random } from './damage.ts'
import { comesTrue, count, type Fault } from './fault.ts'
import { need } from './lab.ts'
import { acknowledged, startLoad } from './load.ts'

// System calls that change files, names or locks.
const CALLS =
  'openat,write,pwrite64,ftruncate,fsync,fdatasync,mkdir,rmdir,unlink,unlinkat,rename,renameat,renameat2,link,chmod,fchmod,chown,fchown,flock,fcntl'
const EARLY_POINTS = 12
const LATE_POINTS = 24
const BACKUP_PLANTS = 300
const WRITTEN_BESIDE = 10

type Run = { readonly code: number; readonly lines: string[] }

async function run(database: string, command: string, words: string[], wrap: string[] = []) {
  const child = launch(database, { command, words, wrap })
  const code = await child.exited
  await child.finished
  return { code, lines: child.err().trimEnd().split('\n').filter(Boolean) } satisfies Run
}

function countPlants(database: string): number {
  const db = new Database(database, { readonly: true })
  try {
    return db.query<{ n: number }, []>('SELECT count(*) AS n FROM plants').get()?.n ?? 0
  } finally {
    db.close(true)
  }
}

/** One call of a run: its name, and its number among those of this name, as strace counts them. */
type Call = { readonly name: string; readonly number: number }

function parseCalls(log: string): (Call & { readonly line: string })[] {
  const lines = log.split('\n')
  const main = lines[0]?.split(' ')[0]
  const numbers = new Map<string, number>()
  return lines.flatMap((line) => {
    const [, pid, name] = /^(\d+) +(\w+)\(/.exec(line) ?? []
    if (pid !== main || name === undefined) return []
    const number = (numbers.get(name) ?? 0) + 1
    numbers.set(name, number)
    return [{ name, number, line }]
  })
}

/** The points at which to kill a restore: all of its last calls, where names change, and some earlier ones. */
async function killPoints({ beside }: Case, store: string, backup: string): Promise<Call[]> {
  const trial = `${store}-trial`
  const log = `${store}-trace`
  cpSync(store, trial, { recursive: true })
  const release = beside(join(trial, 'plants.db'))
  const strace = ['strace', '-f', '-qq', '-o', log, '-e', `trace=${CALLS}`]
  await run(join(trial, 'plants.db'), 'restore', [backup], strace)
  release()
  const calls = parseCalls(readFileSync(log, 'utf8'))
  const first = calls.findIndex(({ line }) => /O_CREAT|mkdir\(/.test(line))
  const own = calls.slice(first)
  const late = own.slice(-LATE_POINTS)
  const early = own.slice(0, -LATE_POINTS)
  const step = Math.ceil(early.length / EARLY_POINTS)
  return [...early.filter((_, index) => index % step === 0), ...late]
}

type Case = {
  readonly name: string
  readonly about: string
  /** The damage to the store of a killed daemon, with acknowledged plants in its log. */
  readonly harm: (database: string) => void
  /** True if the old database can be served. */
  readonly isSound: boolean
  /** Holds what is held beside the restore; returns what releases it. */
  readonly beside: (database: string) => () => void
}

const nothing = () => () => {}

/** A reader of an old state, which keeps what is written after it in the log. */
function readBeside(database: string): () => void {
  const db = new Database(database)
  db.run('BEGIN')
  db.query('SELECT count(*) FROM plants').get()
  const writer = new Database(database)
  for (let id = 1; id <= WRITTEN_BESIDE; id++) {
    writer.run('INSERT INTO plants (id, name) VALUES (?, ?)', [-id, 'beside'])
  }
  writer.run('UPDATE change_log SET plants = plants + ?', [WRITTEN_BESIDE])
  writer.close(true)
  return () => db.close(true)
}

const cases: Case[] = [
  {
    name: 'restore-kill',
    about: 'a restore is killed at its system calls',
    harm: () => {},
    isSound: true,
    beside: nothing,
  },
  {
    name: 'restore-kill-reader',
    about: 'a restore is killed at its system calls, beside a program that reads',
    harm: () => {},
    isSound: true,
    beside: readBeside,
  },
  {
    name: 'restore-kill-damaged',
    about: 'a restore in the place of a damaged database with a log is killed at its system calls',
    harm: (database) => overwrite(database, 0, random(100)),
    isSound: false,
    beside: nothing,
  },
]

/** The result of a start after the kill: the number of plants, or the message of its refusal. */
async function start(database: string): Promise<number | string> {
  let daemon: Daemon
  try {
    daemon = await serve(database)
  } catch (error) {
    return `${error}`
  }
  const code = await daemon.stop()
  const check = await run(database, 'check', [])
  if (code !== 0 || check.code !== 0) return `exit codes ${code} and ${check.code} (check)`
  return countPlants(database)
}

async function killAt(
  { name, number }: Call,
  { isSound, beside }: Case,
  database: string,
  backup: string,
): Promise<{ isKilled: boolean; problems: string[] }> {
  const point = `${name} ${number}`
  const inject = `inject=${name}:signal=SIGKILL:when=${number}`
  const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${name}`, '-e', inject]
  const release = beside(database)
  const old = isSound ? countPlants(database) : 0
  const killed = await run(database, 'restore', [backup], strace)
  const problems: string[] = []
  const served = await start(database)
  release()
  const isRight = served === BACKUP_PLANTS || (isSound && served === old)
  // A sound one is refused only while the old database has two names.
  const line = isSound
    ? /plantstore: a restore of .+ was interrupted; run [^\n]+\n?$/
    : /plantstore: [^\n]+\n?$/
  const isRefused = typeof served === 'string' && line.test(served)
  if (!isRight && !isRefused) problems.push(`killed at ${point}: ${served}`)
  const again = await run(database, 'restore', [backup])
  if (again.code !== 0) problems.push(`after ${point}, again: ${again.lines.join(' ')}`)
  const plants = countPlants(database)
  if (plants !== BACKUP_PLANTS) problems.push(`after ${point}, again: ${plants} plants`)
  const names = readdirSync(dirname(database))
  const strange = names.filter((name) => !/^plants\.db($|\.replaced-)/.test(name))
  if (strange.length > 0) problems.push(`after ${point}: ${strange.join(', ')} left`)
  return { isKilled: killed.code === 137, problems }
}

/** A store whose daemon was killed, and a backup of other plants. */
async function prepare(folder: string): Promise<{ store: string; backup: string }> {
  const store = join(folder, 'store')
  const backup = join(folder, 'backup.db')
  const other = join(folder, 'other.db')
  const lines = Array.from({ length: BACKUP_PLANTS }, (_, id) => `{"id":${id},"name":"b"}\n`)
  writeFileSync(join(folder, 'b.ndjson'), lines.join(''))
  writeFileSync(join(folder, 'late.ndjson'), '{"id":-1,"name":"late"}\n')
  await run(other, 'import', [join(folder, 'b.ndjson')])
  await run(other, 'backup', [backup])
  mkdirSync(store)
  const daemon = await serve(join(store, 'plants.db'))
  const load = startLoad(daemon)
  await acknowledged(load.ledger, 1000, 10_000)
  await load.stop()
  await daemon.kill()
  return { store, backup }
}

const killFaults: Fault[] = cases.map((it) => ({
  name: it.name,
  about: it.about,
  async run(folder) {
    await need('strace')
    const { store, backup } = await prepare(folder)
    const whole = join(folder, 'whole')
    cpSync(store, whole, { recursive: true })
    const old = countPlants(join(whole, 'plants.db'))
    it.harm(join(store, 'plants.db'))
    const points = await killPoints(it, store, backup)
    const problems: string[] = []
    let kills = 0
    for (const [index, point] of points.entries()) {
      const copy = join(folder, `at-${index}`)
      cpSync(store, copy, { recursive: true })
      const result = await killAt(point, it, join(copy, 'plants.db'), backup)
      problems.push(...result.problems)
      if (result.isKilled) kills++
      rmSync(copy, { recursive: true })
    }
    // One that waits for a lock makes now more calls, now fewer.
    if (kills < points.length * 0.75) problems.push(`only ${kills} of ${points.length} were killed`)
    return {
      tried: it.about,
      many: `${count(kills, 'kill')}, ${old} plants before`,
      lost: problems.length === 0 ? 'old or backup, each time' : 'not whole',
      problems,
    }
  },
}))

export const restoreFaults: Fault[] = [
  ...killFaults,
  {
    name: 'restore-beside-import',
    about:
      'an import that starts while a restore changes the names: it fails, and harms neither file',
    async run(folder) {
      await need('strace')
      const { store, backup } = await prepare(folder)
      const database = join(store, 'plants.db')
      const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=rename']
      const wrap = [...strace, '-e', 'inject=rename:delay_enter=2000000']
      const restoring = run(database, 'restore', [backup], wrap)
      await comesTrue(10_000, () => readdirSync(store).some((name) => name.includes('.replaced-')))
      const imported = await run(database, 'import', [join(folder, 'late.ndjson')])
      const restored = await restoring
      const problems: string[] = []
      if (restored.code !== 0) problems.push(`restore: ${restored.lines.join(' ')}`)
      if (imported.code !== 1 || imported.lines.length !== 1) {
        problems.push(`import: exit code ${imported.code}: ${imported.lines.join(' ')}`)
      }
      const names = readdirSync(store)
      if (names.length !== 2) problems.push(`files: ${names.join(', ')}`)
      for (const name of names) {
        const { code, lines } = await run(join(store, name), 'check', [])
        if (code !== 0) problems.push(`${name}: ${lines.join(' ')}`)
      }
      const plants = countPlants(database)
      if (plants !== BACKUP_PLANTS) problems.push(`${plants} plants`)
      return { tried: this.about, many: `${plants} plants`, lost: '0 lost', problems }
    },
  },
]
