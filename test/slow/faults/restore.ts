// A restore that is killed at its system calls: the old database whole, the backup whole, or one clear line.
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { overwrite } from '../../harness/damage.ts'
import { storedPlants } from '../../harness/plants.ts'
import { type Daemon, launch, serve } from './daemon.ts'
import { comesTrue, type Fault, type Report } from './fault.ts'
import { need } from './lab.ts'
import { acknowledged, startLoad } from './load.ts'

// System calls that change files and their names.
const CALLS = [
  'ftruncate',
  'fsync',
  'fchmod',
  'chmod',
  'fchown',
  'link',
  'rename',
  'unlink',
  'pwrite64',
]
const MAX_KILLS = 12
const BACKUP_PLANTS = 300

async function run(database: string, command: string, words: string[], wrap: string[] = []) {
  const child = launch(database, { command, words, wrap })
  const code = await child.finished
  return { code, lines: child.err().trimEnd().split('\n').filter(Boolean) }
}

const countPlants = (database: string): number => storedPlants(database).length

type Case = {
  readonly name: string
  readonly about: string
  /** Makes the old database one that cannot be served. */
  readonly harm?: (database: string) => void
}

const cases: Case[] = [
  { name: 'restore-kill', about: 'a restore is killed at its system calls' },
  {
    name: 'restore-kill-damaged',
    about: 'a restore in the place of a damaged database with a log is killed at its system calls',
    harm: (database) => overwrite(database, 0, crypto.getRandomValues(new Uint8Array(100))),
  },
  {
    name: 'restore-kill-log',
    about: 'a restore beside the log of a database that is gone is killed at its system calls',
    harm: rmSync,
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

/** Kills a restore at its nth call of a name; resolves to false if it ended before that. */
async function killAt(
  [name, n]: readonly [name: string, n: number],
  { harm }: Case,
  database: string,
  backup: string,
  report: Report,
): Promise<boolean> {
  const point = `killed at ${name} ${n}`
  const inject = `inject=${name}:signal=SIGKILL:when=${n}`
  const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${name}`, '-e', inject]
  const isSound = harm === undefined
  const old = isSound ? countPlants(database) : 0
  const killed = await run(database, 'restore', [backup], strace)
  const served = await start(database)
  const isRight = served === BACKUP_PLANTS || (isSound && served === old)
  // A sound one is refused only while the old database has two names.
  const line = isSound
    ? /plantstore: .+ has several names .+; run an interrupted restore again, [^\n]+\n?$/
    : /plantstore: [^\n]+\n?$/
  const isRefused = typeof served === 'string' && line.test(served)
  report.expect(isRight || isRefused, `${point}: ${served}`)
  const again = await run(database, 'restore', [backup])
  report.expect(again.code === 0, `${point}, again: ${again.lines.join(' ')}`)
  const plants = countPlants(database)
  report.expect(plants === BACKUP_PLANTS, `${point}, again: ${plants} plants`)
  const strange = readdirSync(dirname(database)).filter(
    (name) => !/^plants\.db($|\.replaced-)/.test(name),
  )
  report.expect(strange.length === 0, `${point}: ${strange.join(', ')} left`)
  return killed.code === 137
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
  async run(folder, report) {
    await need('strace')
    const { store, backup } = await prepare(folder)
    it.harm?.(join(store, 'plants.db'))
    const copy = join(folder, 'copy')
    let kills = 0
    for (const name of CALLS) {
      for (let n = 1, isKilled = true; isKilled && n <= MAX_KILLS; n++) {
        cpSync(store, copy, { recursive: true })
        isKilled = await killAt([name, n], it, join(copy, 'plants.db'), backup, report)
        if (isKilled) kills++
        rmSync(copy, { recursive: true })
      }
    }
    report.expect(kills >= CALLS.length, `only ${kills} were killed`)
  },
}))

export const restoreFaults: Fault[] = [
  ...killFaults,
  {
    name: 'restore-beside-import',
    about:
      'an import that starts while a restore changes the names: it fails, and harms neither file',
    async run(folder, report) {
      await need('strace')
      const { store, backup } = await prepare(folder)
      const database = join(store, 'plants.db')
      const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=rename']
      const wrap = [...strace, '-e', 'inject=rename:delay_enter=2000000']
      const restoring = run(database, 'restore', [backup], wrap)
      await comesTrue(10_000, () => readdirSync(store).some((name) => name.includes('.replaced-')))
      const imported = await run(database, 'import', [join(folder, 'late.ndjson')])
      const restored = await restoring
      report.expect(restored.code === 0, `restore: ${restored.lines.join(' ')}`)
      report.expect(
        imported.code === 1 && imported.lines.length === 1,
        `import: exit code ${imported.code}: ${imported.lines.join(' ')}`,
      )
      const names = readdirSync(store)
      report.expect(names.length === 2, `files: ${names.join(', ')}`)
      for (const name of names) {
        const { code, lines } = await run(join(store, name), 'check', [])
        report.expect(code === 0, `${name}: ${lines.join(' ')}`)
      }
      const plants = countPlants(database)
      report.expect(plants === BACKUP_PLANTS, `${plants} plants`)
    },
  },
]
