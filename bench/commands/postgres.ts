// `bun run postgres`: creates with PostgreSQL, in turn with the embedded engine and with one INSERT per create.
import { SQL } from 'bun'
import { INSTALLATIONS, isInstalled, startPostgres } from '../../tools/postgres/server.ts'
import { startContender } from '../lib/contender.ts'
import { number, numbers, readFlags } from '../lib/flags.ts'
import { insertEach } from '../lib/peers.ts'
import { beforePostgres, executable, plantstore, project } from '../lib/plantstore.ts'
import { run } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { loadInTurn, printRows, rowsOf } from '../lib/rounds.ts'
import type { Server } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { withSlowSyncs } from '../lib/slow-disk.ts'

const flags = readFlags('Creates with PostgreSQL, in turn with the embedded engine.', {
  rounds: { default: '7', help: 'how often each server is loaded' },
  seconds: { default: '2', help: 'seconds of load at a time' },
  connections: { default: '1,64,256', help: 'connections at once' },
  pools: { default: '10,64', help: 'connections of one INSERT per create' },
  'fsync-ms': { default: '0', help: 'milliseconds added to each fsync; the results are not kept' },
  'keep-changes': { default: '', help: 'a plantstore with a change log as well, such as 1d' },
  other: { default: '', help: 'another executable of plantstore, loaded as well' },
  snapshot: { default: '', help: 'beside a session that keeps a snapshot open: yes' },
})
const delay = number(flags['fsync-ms'])
const wrapped = withSlowSyncs(delay)
const ONE = 'plantstore, PostgreSQL'

await setUp(...(delay > 0 ? ['gcc'] : []))
await run({ argv: [process.execPath, 'tools/postgres/install.ts'], cwd: project })
const installation = INSTALLATIONS.findLast(isInstalled)
if (!installation) {
  console.error('PostgreSQL is missing; install it (Debian: apt-get install postgresql)')
  process.exit(1)
}
await using postgres = await startPostgres(installation, {
  wrap: (argv) => wrapped({ argv: [...argv] }).argv,
})

/** A server before a database of its own. */
async function before(data: string, serverAt: (url: string) => Server) {
  const server = serverAt(await postgres.createDatabase(data))
  return startContender(server, {
    databasePid: postgres.pid(),
    async countRows() {
      const [row] = await postgres.query('SELECT count(*) AS rows FROM plants', postgres.url(data))
      return Number(row?.rows)
    },
  })
}

const at =
  (program: string, name: string, ...options: string[]) =>
  (url: string) =>
    beforePostgres(program, name, url, options)
const embedded = { ...plantstore, name: 'plantstore, embedded engine' }
const contenders = [
  await startContender(embedded, { wrapped }),
  await before('one', at(executable, ONE)),
]
for (const pool of numbers(flags.pools)) {
  contenders.push(await before(`pool_${pool}`, (url) => insertEach(url, pool)))
}
if (flags['keep-changes']) {
  const options = ['--keep-changes', flags['keep-changes']]
  contenders.push(await before('log', at(executable, `${ONE}, change log`, ...options)))
}
if (flags.other) contenders.push(await before('other', at(flags.other, flags.other)))
await using snapshot = flags.snapshot ? new SQL({ url: postgres.url('one'), max: 1 }) : null
await snapshot?.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM plants')

const samples = await loadInTurn(contenders, {
  rounds: number(flags.rounds),
  seconds: number(flags.seconds),
  connections: numbers(flags.connections),
})
for (const { end } of contenders) await end()

const rows = rowsOf(samples, ONE)
printRows(rows, ONE, 'creates')
console.log(`\n${installation.name}; the second CPU is PostgreSQL's`)
// Only what is asked for without a change log, another executable or disk is kept.
if (!flags['keep-changes'] && !flags.other && !flags.snapshot && delay === 0)
  writeResults('postgres', { rows })
