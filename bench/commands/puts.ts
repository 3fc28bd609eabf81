// `bun run puts`: what batches of puts and of patches cost beside creates of as many plants.

import { cpuTime } from '../lib/cpu.ts'
import { number, readFlags } from '../lib/flags.ts'
import { executable, plantstoreAt, token } from '../lib/plantstore.ts'
import { removeFolder, temporaryFolder } from '../lib/processes.ts'
import { startServer } from '../lib/server.ts'
import { setUp } from '../lib/setup.ts'
import { table } from '../lib/table.ts'

const flags = readFlags('Batches of puts and patches.', {
  plants: { default: '1000', help: 'plants of a batch' },
  rounds: { default: '30', help: 'batches of each kind' },
  clients: { default: '64', help: 'clients that create the same plants one by one' },
})
const size = number(flags.plants)
const rounds = number(flags.rounds)
const clients = number(flags.clients)

const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
const batches = Array.from({ length: rounds }, (_, round) =>
  Array.from({ length: size }, (_, index) => ({
    id: round * size + index,
    name: `Monstera deliciosa ${index}`,
    tag: 'aroid',
  })),
)

async function send(url: string, method: string, path: string, body: unknown): Promise<void> {
  const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(await answer.text())
  await answer.arrayBuffer()
}

/** Milliseconds, and milliseconds of CPU of the server, for each batch. */
async function measure(act: (plants: (typeof batches)[number]) => Promise<unknown>) {
  const cpu = cpuTime(server.pid)
  const started = performance.now()
  for (const plants of batches) await act(plants)
  return {
    ms: (performance.now() - started) / rounds,
    cpu: (cpuTime(server.pid) - cpu) / 1000 / rounds,
  }
}

/** Creates plants one by one, as so many clients. */
async function createEach(url: string, plants: (typeof batches)[number]): Promise<void> {
  const left = plants.values()
  const client = async () => {
    for (const plant of left) await send(url, 'POST', '/plants', { ...plant, id: -1 - plant.id })
  }
  await Promise.all(Array.from({ length: clients }, client))
}

await setUp()
const folder = temporaryFolder()
const server = await startServer(plantstoreAt(executable), folder)
const { url } = server
const one = await measure((plants) => createEach(url, plants))
const batch = await measure((plants) => send(url, 'POST', '/plants/batch', { plants }))
const unchanged = await measure((plants) => send(url, 'PUT', '/plants/batch', { plants }))
const replaced = await measure((plants) =>
  send(url, 'PUT', '/plants/batch', {
    plants: plants.map((plant) => ({ ...plant, tag: 'climber' })),
  }),
)
const patched = await measure((plants) =>
  send(url, 'PATCH', '/plants/batch', {
    plants: plants.map(({ id }) => ({ id, tag: 'aroid' })),
  }),
)
const guarded = await measure((plants) =>
  send(url, 'PATCH', '/plants/batch', {
    plants: plants.map(({ id }) => ({ id, tag: 'climber', was: { tag: 'aroid' } })),
  }),
)
await server.stop()
removeFolder(folder)

const row = (what: string, { ms, cpu }: typeof one) => [
  what,
  ms.toFixed(1),
  cpu.toFixed(1),
  (cpu / one.cpu).toFixed(2),
]
console.log(
  table(
    [`${size} plants`, 'ms', 'CPU ms of the server', 'of the creates'],
    [
      row(`creates of ${clients} clients`, one),
      row('a batch of creates', batch),
      row('a batch of puts, all unchanged', unchanged),
      row('a batch of puts of another tag', replaced),
      row('a batch of patches of the same', patched),
      row('the patches, with a condition', guarded),
    ],
  ),
)
