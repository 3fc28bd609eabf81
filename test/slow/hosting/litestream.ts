// Litestream ships a database under load, and gives it back.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../harness/daemon.ts'
import { storedPlants } from '../../harness/plants.ts'
import { until } from '../../harness/until.ts'
import { Skipped } from '../faults/fault.ts'
import { needGo, sh, startServer } from '../faults/lab.ts'
import { acknowledged, bulky, forgetLater, startLoad } from '../faults/load.ts'
import { faultsOf, judge } from '../faults/verify.ts'
import { type Case, DATABASE, expect, page, script, writeFiles } from './case.ts'
import { startPlantstore } from './proxy.ts'

const REPLICA = '/var/backups/plantstore'
const OWN_FOLDER = '/var/lib/plantstore/.plants.db-litestream'
const MIB = 1024 * 1024
// Of 900 KB: they fill the log many times over. Litestream lets it be used again about once a second.
const PLANTS = 300
const MAX_LOG_BYTES = 128 * MIB
// Clients that pause for half a second: 15 MB each second at most.
const CLIENTS = { clients: 8, pauseMs: 1000, reconnect: true, from: bulky }
const MORE_MS = 60_000
// The size to which plantstore truncates the log, once it has no reader (engine/sqlite/committing/checkpoint.ts).
const IDLE_LOG_BYTES = 32 * MIB

/** The program of the page, built into the folder of build results. */
const binaries = join(root, 'dist/hosting')

const [, source = ''] = /`go install (\S+)`/.exec(page) ?? []

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
    const load = startLoad(daemon, CLIENTS)
    const { ledger } = load
    let longest = 0
    const watch = setInterval(() => {
      longest = Math.max(longest, logBytes())
    }, 20)
    const more = async (plants: number) =>
      expect(await acknowledged(ledger, plants, MORE_MS), 'too few creates')

    await more(PLANTS)
    expect(longest < MAX_LOG_BYTES, `a write-ahead log of ${Math.round(longest / MIB)} MiB`)
    await shipped()

    // Either may go and come back.
    await daemon.kill()
    daemon = await startPlantstore()
    await more(10)
    await shipper.kill()
    await until('a short log without Litestream', () => logBytes() <= IDLE_LOG_BYTES)
    await more(10)
    shipper = startLitestream()
    await more(10)
    const forget = forgetLater(ledger)
    await shipped()
    await more(10)

    // The machine is lost.
    await Promise.all([shipper.kill(), daemon.kill()])
    load.abandon()
    await load.stop()
    forget()
    clearInterval(watch)
    await sh('sh', '-c', `rm ${DATABASE}*; rm -r ${OWN_FOLDER}`)
    await sh('sh', '-c', script('Litestream'))
    const restored = new Map(storedPlants(DATABASE).map((plant) => [plant.id, plant]))
    const wrong = faultsOf(judge(restored, ledger))
    expect(wrong.length === 0, `of what was shipped: ${wrong.join('; ')}`)

    // It serves again, and is shipped again.
    daemon = await startPlantstore()
    startLitestream()
    expect((await daemon.create('{"id":-1,"name":"Rose"}')).status === 200, 'no create afterwards')
  },
}
