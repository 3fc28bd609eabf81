// `bun run disk`: the bytes that a create, a probe and an open console write to the disk, and a year of them.

import { readFileSync } from 'node:fs'
import { number, readFlags } from '../lib/flags.ts'
import { buildPlantstore, executable, plantstoreAt, token } from '../lib/plantstore.ts'
import { removeFolder, temporaryFolder } from '../lib/processes.ts'
import { startServer } from '../lib/server.ts'
import { table } from '../lib/table.ts'

const flags = readFlags(
  'Bytes to the disk, by /proc/PID/io. The temporary folder must be on a disk.',
  {
    binary: { default: '', help: 'another executable than dist/plantstore' },
    creates: { default: '30', help: 'creates, one after another' },
    seconds: { default: '60', help: 'seconds of an open console' },
  },
)

// What the console asks for: see src/web/console/status/monitor.ts.
const STATUS_EVERY_MS = 2000
const SECONDS_A_YEAR = 365.25 * 86_400

const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
const written = (pid: number): number =>
  Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])

type Row = readonly [what: string, bytes: string, year: string]

const rowOf = (what: string, bytes: number, aYear: number, unit: string): Row => [
  what,
  Math.round(bytes).toLocaleString('en'),
  `${((bytes * aYear) / 1e9).toLocaleString('en', { maximumFractionDigits: 1 })} GB ${unit}`,
]

async function measure(keepsChanges: boolean): Promise<Row[]> {
  const folder = temporaryFolder()
  const server = plantstoreAt(flags.binary || executable)
  const { command } = server
  const running = await startServer(
    {
      ...server,
      command: (port, at) => {
        const found = command(port, at)
        return keepsChanges ? { ...found, argv: [...found.argv, '--keep-changes', '1d'] } : found
      },
    },
    folder,
  )
  const { url, pid } = running
  const get = async (path: string) => (await fetch(url + path, { headers })).arrayBuffer()
  const bytesOf = async (act: () => Promise<unknown>) => {
    const before = written(pid)
    await act()
    return written(pid) - before
  }
  const create = async (id: number) => {
    const body = JSON.stringify({ id, name: 'Monstera deliciosa', tag: 'aroid' })
    await (await fetch(`${url}/plants`, { method: 'POST', headers, body })).arrayBuffer()
  }
  const creates = number(flags.creates)
  await create(-1)
  const perCreate =
    (await bytesOf(async () => {
      for (let id = 0; id < creates; id++) await create(id)
    })) / creates
  // The first probe after a start makes a trial.
  await get('/health')
  let [probes, inProbes, inStatus] = [0, 0, 0]
  const end = performance.now() + number(flags.seconds) * 1000
  while (performance.now() < end) {
    await Bun.sleep(STATUS_EVERY_MS)
    inProbes += await bytesOf(() => get('/health'))
    probes += 1
    inStatus += await bytesOf(() => get('/status'))
  }
  await running.stop()
  removeFolder(folder)
  const probe = inProbes / probes
  const minute = (inStatus / number(flags.seconds)) * 60
  const log = keepsChanges ? ', with a change log' : ''
  return [
    rowOf(`a create${log}`, perCreate, SECONDS_A_YEAR, 'at one a second'),
    rowOf(`a probe${log}`, probe, SECONDS_A_YEAR / 10, 'at one in ten seconds'),
    rowOf(`a minute of the console${log}`, minute, SECONDS_A_YEAR / 60, 'if it is always open'),
  ]
}

await buildPlantstore()
console.log(
  table(
    ['what', 'bytes', 'a year'],
    [...(await measure(false)), ...(await measure(true))].map((row) => [...row]),
  ),
)
