// `bun run commit`: the parts of a create with one client, by plantstore's own modules.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { watchFiles } from '../../src/engine/sqlite/file/database-file.ts'
import { migrate, schemaVersion } from '../../src/engine/sqlite/file/migrations.ts'
import { connect } from '../../src/engine/sqlite/reading/connection.ts'
import { number, readFlags } from '../lib/flags.ts'
import { database, plantstore } from '../lib/plantstore.ts'
import { removeFolder, temporaryFolder } from '../lib/processes.ts'
import { startServer } from '../lib/server.ts'
import { ceiling } from '../lib/servers.ts'
import { setUp } from '../lib/setup.ts'
import { median } from '../lib/statistics.ts'
import { decimals, table } from '../lib/table.ts'
import { createLoader } from '../lib/wrk.ts'

const flags = readFlags('The parts of a create with one client, in microseconds.', {
  rounds: { default: '7', help: 'how often each part is measured' },
  repeats: { default: '1000', help: 'how often in each round' },
})
const repeats = number(flags.repeats)

/** The median of many calls in microseconds, with so many milliseconds between them. */
async function timed(act: () => unknown, pause = 0): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < repeats; n++) {
    if (pause > 0) await Bun.sleep(pause)
    const started = performance.now()
    await act()
    times.push((performance.now() - started) * 1000)
  }
  return median(times)
}

/** A thread that sends back what it gets, as the committing thread does. */
function echoThread(): { ask(): Promise<void>; end(): void } {
  const thread = new Worker(join(import.meta.dir, '../servers/echo-thread.ts'), { smol: true })
  const message = JSON.stringify({
    commit: [{ kind: 'create', row: [1, 'Monstera deliciosa', 'aroid'], origin: null }],
  })
  const ask = () =>
    new Promise<void>((resolve) => {
      thread.onmessage = () => resolve()
      thread.postMessage(message)
    })
  return { ask, end: () => thread.terminate() }
}

/** The latency of a server with one client, as the client sees it: the median of a second. */
async function latency(server: typeof ceiling): Promise<number> {
  const running = await startServer(server)
  try {
    const loader = createLoader(running)
    await loader.create(1, 1)
    return (await loader.create(1, 1)).p50
  } finally {
    await running.stop()
    removeFolder(running.folder)
  }
}

await setUp()
const folder = temporaryFolder()
const path = database(folder)
const created = new Database(path, { create: true })
created.run('PRAGMA journal_mode = WAL')
migrate(created)
created.close()
const db = connect(path)
schemaVersion(db)
const isMoved = watchFiles(path)
const begin = db.query('BEGIN IMMEDIATE')
const commit = db.query('COMMIT')
const rollback = db.query('ROLLBACK')
const insert = db.query<never, [number, string, string]>(
  'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)',
)
const count = db.query('UPDATE plant_count SET plants = plants + 1')
const thread = echoThread()
let id = 0

function create(counts: boolean): void {
  begin.run()
  id += 1
  insert.run(id, 'Monstera deliciosa', 'aroid')
  if (counts) count.run()
  commit.run()
}

const parts: Record<string, () => number | Promise<number>> = {
  'a create, as its client sees it': () => latency(plantstore),
  'a request that stores nothing (`ceiling`)': () => latency(ceiling),
  // Both threads sleep before, as they do while the disk and the client have their turns.
  'a message to a thread and back': () => timed(thread.ask, 1),
  'BEGIN and ROLLBACK': () =>
    timed(() => {
      begin.run()
      rollback.run()
    }),
  'the version of the schema': () => timed(() => schemaVersion(db)),
  'a look whether the file was moved (two a commit)': () => timed(isMoved),
  'a commit of one plant': () => timed(() => create(false)),
  'the same, with the number of plants': () => timed(() => create(true)),
}

const measured = new Map<string, number[]>()
for (let round = 1; round <= number(flags.rounds); round++) {
  console.error(`round ${round} of ${flags.rounds}`)
  for (const [part, measure] of Object.entries(parts)) {
    measured.set(part, [...(measured.get(part) ?? []), await measure()])
  }
}
thread.end()
db.close()
removeFolder(folder)
const rows = [...measured].map(([part, values]) => [part, decimals(median(values), 1)])
console.log(table(['', 'us'], rows))
