// `bun run tuning`: commits of random ids in a large store, with other settings of SQLite. Each setting is measured in
// turn with the store's own. There is no server.
import { Database } from 'bun:sqlite'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from '../../src/engine/sqlite/migrations.ts'
import { number, readFlags } from '../lib/flags.ts'
import { nthId } from '../lib/ids.ts'
import { temporaryFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { quantile, range } from '../lib/statistics.ts'
import { decimals, table, thousands } from '../lib/table.ts'

const flags = readFlags('Durable commits of random ids, with other settings of SQLite.', {
  plants: { default: '2000000', help: 'plants in the store at the start' },
  batch: { default: '64', help: 'plants per commit' },
  rounds: { default: '7', help: 'how often each setting is measured, for one second' },
})
const plants = number(flags.plants)
const batch = number(flags.batch)

type Settings = {
  name: string
  pageBytes?: number
  cacheMegabytes?: number
  mmapMegabytes?: number
  checkpointPages?: number
  /** Whether a commit inserts its plants in the order of their ids. */
  isSorted?: boolean
  /** Whether another thread runs the checkpoint while commits go on. */
  hasThread?: boolean
}

const own: Settings = {
  name: 'pages of 4 KiB, cache of 8 MB, no mmap, checkpoint at 2000 pages',
}
const settings: Settings[] = [
  { name: 'the same again' },
  { name: 'pages of 8 KiB', pageBytes: 8192, checkpointPages: 1000 },
  { name: 'pages of 16 KiB', pageBytes: 16_384, checkpointPages: 500 },
  { name: 'cache of 2 MB', cacheMegabytes: 2 },
  { name: 'cache of 32 MB', cacheMegabytes: 32 },
  { name: 'cache of 64 MB', cacheMegabytes: 64 },
  { name: 'mmap of 1 GB', mmapMegabytes: 1024 },
  { name: 'checkpoint at 500 pages', checkpointPages: 500 },
  { name: 'checkpoint at 1000 pages', checkpointPages: 1000 },
  { name: 'checkpoint at 4000 pages', checkpointPages: 4000 },
  { name: 'checkpoint at 16000 pages', checkpointPages: 16_000 },
  { name: 'sorted within a batch', isSorted: true },
  { name: 'checkpoint by a thread, commits go on', hasThread: true },
]

const folder = temporaryFolder()

/** A database of `plants` plants and no log; made once per page size. */
function seed(pageBytes: number): string {
  const file = join(folder, `seed-${pageBytes}.db`)
  if (Bun.file(file).size > 0) return file
  const db = new Database(file, { safeIntegers: true })
  db.run(`PRAGMA page_size = ${pageBytes}`)
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = OFF')
  db.run('PRAGMA cache_size = -500000')
  migrate(db)
  const ids = Float64Array.from({ length: plants }, (_, n) => nthId('random', n)).sort()
  const insert = db.query("INSERT INTO plants VALUES (?, 'Monstera deliciosa', 'aroid')")
  db.run('BEGIN')
  for (const id of ids) insert.run(BigInt(id))
  db.run('COMMIT')
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close(true)
  return file
}

const checkpointer = `
  import { Database } from 'bun:sqlite'
  let db
  self.onmessage = ({ data }) => {
    db ??= new Database(data)
    db.run('PRAGMA synchronous = FULL')
    db.query('PRAGMA wal_checkpoint(PASSIVE)').all()
    self.postMessage('done')
  }`

function open(of: Settings) {
  const { pageBytes = 4096, cacheMegabytes = 8, mmapMegabytes = 0, checkpointPages = 2000 } = of
  const file = join(folder, `${Bun.nanoseconds()}.db`)
  copyFileSync(seed(pageBytes), file)
  const db = new Database(file, { safeIntegers: true })
  for (const [name, value] of Object.entries({
    synchronous: 'FULL',
    wal_autocheckpoint: 0,
    cache_size: -1000 * cacheMegabytes,
    mmap_size: mmapMegabytes * 2 ** 20,
  })) {
    db.run(`PRAGMA ${name} = ${value}`)
  }
  const insert = db.query("INSERT INTO plants VALUES (?, 'Monstera deliciosa', 'aroid')")
  const [begin, commit] = [db.query('BEGIN IMMEDIATE'), db.query('COMMIT')]
  const pages = db.query<{ log: bigint }, []>('PRAGMA wal_checkpoint(NOOP)')
  const checkpoint = db.query('PRAGMA wal_checkpoint(PASSIVE)')
  const thread = of.hasThread
    ? new Worker(URL.createObjectURL(new Blob([checkpointer], { type: 'text/javascript' })))
    : undefined
  let isCheckpointing = false
  thread?.addEventListener('message', () => {
    isCheckpointing = false
  })
  let next = plants

  function checkpointIfDue(): void {
    if (isCheckpointing || Number(pages.get()?.log) < checkpointPages) return
    if (!thread) return void checkpoint.all()
    isCheckpointing = true
    thread.postMessage(file)
  }

  return {
    /** Commits for a second; returns the milliseconds of each commit, its checkpoint included. */
    async slice(): Promise<number[]> {
      const took: number[] = []
      for (const end = performance.now() + 1000; performance.now() < end; ) {
        const ids = Array.from({ length: batch }, () => nthId('random', next++))
        if (of.isSorted) ids.sort((a, b) => a - b)
        const from = performance.now()
        begin.run()
        for (const id of ids) insert.run(BigInt(id))
        commit.run()
        checkpointIfDue()
        took.push(performance.now() - from)
        if (thread) await new Promise(setImmediate)
      }
      return took
    },
    async close(): Promise<void> {
      while (isCheckpointing) await Bun.sleep(1)
      thread?.terminate()
      db.close(true)
      for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
    },
  }
}

const perSecond = (took: number[]) => (took.length * batch * 1000) / took.reduce((a, b) => a + b, 0)

const rows = []
for (const setting of settings) {
  const [base, other] = [open(own), open(setting)]
  const ratios: number[] = []
  const all: number[] = []
  for (let round = -1; round < number(flags.rounds); round++) {
    const [usual, took] = [await base.slice(), await other.slice()]
    // The first round fills the caches.
    if (round < 0) continue
    ratios.push(perSecond(took) / perSecond(usual))
    all.push(...took)
  }
  await base.close()
  await other.close()
  const ratio = range(ratios)
  rows.push({
    setting: setting.name,
    ratio,
    perSecond: perSecond(all),
    p99Ms: quantile(all, 0.99),
    maxMs: Math.max(...all),
  })
  console.error(`${setting.name}: ${decimals(ratio[1])}`)
}

console.log(`Compared with: ${own.name}. ${thousands(plants)} plants, ${batch} per commit.\n`)
console.log(
  table(
    ['setting', 'ratio', 'least', 'most', 'creates/s', 'p99 of a commit', 'longest'],
    rows.map(({ setting, ratio: [least, middle, most], perSecond, p99Ms, maxMs }) => [
      setting,
      decimals(middle),
      decimals(least),
      decimals(most),
      thousands(perSecond),
      `${decimals(p99Ms, 1)} ms`,
      `${decimals(maxMs, 1)} ms`,
    ]),
  ),
)
writeResults('tuning', { plants, batch, figures: '[least, median, most]', rows })
