// Litestream ships a database under load, and gives it back.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Daemon, root } from '../../harness/daemon.ts'
import { type StoredPlant, storedPlants } from '../../harness/plants.ts'
import { until } from '../../harness/until.ts'
import { Skipped } from '../faults/fault.ts'
import { needGo, sh } from '../faults/lab.ts'
import { type Case, DATABASE, expect, page, script, startServer, writeFiles } from './case.ts'
import { startPlantstore } from './proxy.ts'

const REPLICA = '/var/backups/plantstore'
const OWN_FOLDER = '/var/lib/plantstore/.plants.db-litestream'
const CLIENTS = 16
const IDS_OF_CLIENT = 1_000_000
// Long enough that some thousand plants fill the log many times over.
const NAME = 'Rosa'.padEnd(8000, '.')
const PAUSE_MS = 8
const MIB = 1024 * 1024
const WRITTEN_BYTES = 256 * MIB
// Litestream lets the log be used again about once a second.
const MAX_LOG_BYTES = WRITTEN_BYTES / 2
// The size to which plantstore truncates the log, once it has no reader (engine/sqlite/committing/checkpoint.ts).
const IDLE_LOG_BYTES = 32 * MIB

/** The program of the page, built into the folder of build results. */
const binaries = join(root, 'dist/hosting')

const [, source = ''] = /`go install (\S+)`/.exec(page) ?? []

/** Creates plants until it is stopped; each client counts its ids up from its own first. */
function startClients(daemon: () => Daemon) {
  const counts = Array.from({ length: CLIENTS }, () => 0)
  let isOver = false
  const run = async (client: number) => {
    while (!isOver) {
      const next = (counts[client] ?? 0) + 1
      const body = `{"id":${client * IDS_OF_CLIENT + next},"name":"${NAME}"}`
      const status = await daemon()
        .create(body)
        .then(async (answer) => {
          await answer.text()
          return answer.status
        })
        .catch(() => 0)
      // 409: it was stored, and the daemon was killed before it answered.
      if (status === 200 || status === 409) counts[client] = next
      await Bun.sleep(PAUSE_MS)
    }
  }
  const ended = Promise.all(counts.map((_, client) => run(client)))
  return {
    /** The number of acknowledged plants of each client. */
    counts: (): readonly number[] => [...counts],
    async stop() {
      isOver = true
      await ended
    },
  }
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

/**
 * The last transaction that a folder of Litestream's holds, by the names of its files: FIRST-LAST.ltx, in hexadecimal.
 */
function lastTransaction(folder: string): number {
  const names = readdirSync(folder, { recursive: true }).map(String)
  const lasts = names.map((name) => /ltx\/0\/\w+-(\w+)\.ltx$/.exec(name)?.[1] ?? '0')
  return Math.max(0, ...lasts.map((last) => Number.parseInt(last, 16)))
}

/**
 * Resolves when Litestream has shipped whatever was committed before. It reads the log into its own folder and ships
 * from there, which may lag; the next file that it reads may have been begun before, the one after it was not.
 */
async function shipped(): Promise<void> {
  const goal = lastTransaction(OWN_FOLDER) + 2
  await until('shipped transactions', () => lastTransaction(REPLICA) >= goal)
}

/** The number of plants of each client in a database. Throws if one is missing before the last. */
function countsOf(plants: readonly StoredPlant[]): number[] {
  const counts = Array.from({ length: CLIENTS }, () => 0)
  for (const { id, name } of plants) {
    const client = Math.floor(Number(id) / IDS_OF_CLIENT)
    const count = (counts[client] ?? 0) + 1
    expect(Number(id) === client * IDS_OF_CLIENT + count, `the plant before ${id} is missing`)
    expect(name === NAME, `the plant ${id} is altered`)
    counts[client] = count
  }
  return counts
}

const logBytes = (): number => statSync(`${DATABASE}-wal`, { throwIfNoEntry: false })?.size ?? 0

const startLitestream = () => startServer(join(binaries, 'litestream'), 'replicate')

export const litestream: Case = {
  name: 'litestream',
  about: 'Litestream ships under load and through kills; what it had shipped is restored',
  async install() {
    try {
      await sh('env', `GOBIN=${binaries}`, ...(await needGo()), 'install', source)
    } catch (error) {
      throw new Skipped(`cannot install ${source}: ${error}`)
    }
  },
  async run() {
    writeFiles('Litestream')
    let daemon = await startPlantstore()
    let shipper = startLitestream()
    const clients = startClients(() => daemon)
    let longest = 0
    const watch = setInterval(() => {
      longest = Math.max(longest, logBytes())
    }, 20)
    const more = async (plants: number) => {
      const goal = sum(clients.counts()) + plants
      // A busy machine may be slow, as long as it goes on.
      for (let count = 0; count < goal; count = sum(clients.counts())) {
        const next = Math.min(goal, count + 100)
        const goesOn = () => sum(clients.counts()) >= next
        await until(`more creates after ${count}`, goesOn)
      }
    }

    await more(WRITTEN_BYTES / NAME.length)
    expect(longest < MAX_LOG_BYTES, `a write-ahead log of ${Math.round(longest / MIB)} MiB`)
    await shipped()

    // Either may go and come back.
    await daemon.kill()
    daemon = await startPlantstore()
    await more(100)
    await shipper.kill()
    await until('a short log without Litestream', () => logBytes() <= IDLE_LOG_BYTES)
    await more(100)
    shipper = startLitestream()
    await more(100)
    const acknowledged = clients.counts()
    await shipped()
    await more(100)

    // The machine is lost.
    await Promise.all([shipper.kill(), daemon.kill()])
    await clients.stop()
    clearInterval(watch)
    await sh('sh', '-c', `rm ${DATABASE}*; rm -r ${OWN_FOLDER}`)
    await sh('sh', '-c', script('Litestream'))
    const restored = countsOf(storedPlants(DATABASE))
    const lost = acknowledged.filter((count, client) => (restored[client] ?? 0) < count)
    expect(lost.length === 0, `${lost.length} clients lost plants that were shipped`)

    // It serves again, and is shipped again.
    daemon = await startPlantstore()
    startLitestream()
    expect((await daemon.create('{"id":-1,"name":"Rose"}')).status === 200, 'no create afterwards')
  },
}
