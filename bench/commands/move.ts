// `bun run move`: all plants of a database file to PostgreSQL and back, each way by `plantstore export | plantstore import`.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { installations, isInstalled, startPostgres } from '../../tools/postgres/server.ts'
import { importPlants } from '../lib/fill.ts'
import { number, readFlags } from '../lib/flags.ts'
import { database, executable, project } from '../lib/plantstore.ts'
import { removeFolder, run, temporaryFolder } from '../lib/processes.ts'
import { writeResults } from '../lib/results.ts'
import { setUp } from '../lib/setup.ts'
import { decimals, table, thousands } from '../lib/table.ts'

const flags = readFlags('Moves plants from a database file to PostgreSQL and back.', {
  plants: { default: '1000000', help: 'plants in the store' },
})
const plants = number(flags.plants)

await setUp()
await run({ argv: [process.execPath, 'tools/postgres/install.ts'], cwd: project })

/** Moves all plants from a database to another; returns the seconds. */
async function move(from: string, to: string): Promise<number> {
  const started = performance.now()
  const pipe =
    'PLANTSTORE_DATABASE=$1 "$0" export | PLANTSTORE_DATABASE=$2 "$0" import - --format ndjson'
  await run({ argv: ['sh', '-c', pipe, executable, from, to] })
  return (performance.now() - started) / 1000
}

async function fingerprint(from: string): Promise<string> {
  const env = { PLANTSTORE_DATABASE: from }
  const child = Bun.spawn([executable, 'export'], { env, stdout: 'pipe', stderr: 'ignore' })
  const hash = createHash('sha256')
  for await (const chunk of child.stdout) hash.update(chunk)
  if ((await child.exited) !== 0) throw new Error(`cannot export ${from}`)
  return hash.digest('hex')
}

type Row = { readonly from: string; readonly to: string; readonly seconds: number }

const folder = temporaryFolder()
const file = database(folder)
await importPlants(folder, 'ascending', 0, plants)
const expected = await fingerprint(file)
const rows: Row[] = []

async function measure(from: [string, string], to: [string, string]): Promise<void> {
  const seconds = await move(from[1], to[1])
  if ((await fingerprint(to[1])) !== expected) throw new Error(`${to[0]} has other plants`)
  rows.push({ from: from[0], to: to[0], seconds })
}

await measure(['SQLite', file], ['SQLite', join(folder, 'copy.db')])
for (const [index, installation] of installations.filter(isInstalled).entries()) {
  await using server = await startPostgres(installation)
  const url = await server.createDatabase('plants')
  await measure(['SQLite', file], [installation.name, url])
  await measure([installation.name, url], ['SQLite', join(folder, `back-${index}.db`)])
}
removeFolder(folder)

const cells = rows.map(({ from, to, seconds }) => [
  from,
  to,
  decimals(seconds),
  thousands(plants / seconds),
])
console.log(table(['from', 'to', 'seconds', 'plants/s'], cells))
writeResults('move', { plants, rows })
