// Clients that search without a pause, beside one that creates.
import { join } from 'node:path'
import { type Connection, connect, request } from '../../harness/http.ts'
import { type Daemon, serve } from './daemon.ts'
import { count, type Fault } from './fault.ts'
import { after } from './lab.ts'
import { type Ledger, storedIn } from './load.ts'
import { type Probe, probe, shown } from './probe.ts'
import { watchMemory } from './process.ts'
import { faultsOf, verify } from './verify.ts'

const searchers = 200
const plants = 200_000
const tags = 10
// The p99 of a create beside the searching clients, as a multiple of that beside none.
const slowest = 50
const megabytes = 160

/** Ids are spread, so that the plants of a tag are far apart in the file. */
async function fill(daemon: Daemon): Promise<void> {
  for (let from = 0; from < plants; from += 1000) {
    const batch = Array.from({ length: 1000 }, (_, index) => {
      const n = from + index
      const id = (n * 7919) % plants
      return { id, name: `Plant ${n} ${'of a long name '.repeat(10)}`, tag: `t${n % tags}` }
    })
    const answer = await daemon.fetch('/plants/batch', { json: { plants: batch } })
    if (answer.status !== 200) throw new Error(await answer.text())
  }
}

type Tally = { answers: number; readonly wrong: Set<number>; readonly perClient: number[] }

/** Walks all plants of a tag for a name that none has, again and again, until the connection is closed. */
async function search(daemon: Daemon, connection: Connection, client: number, tally: Tally) {
  const path = `/plants?limit=100&name=nothing&tag=t${client % tags}`
  let after = ''
  for (;;) {
    const answer = await connection.send(request('GET', `${path}${after}`, daemon.token))
    if (!answer) return
    if (answer.status !== 200) {
      tally.wrong.add(answer.status)
      return
    }
    tally.answers += 1
    tally.perClient[client] = (tally.perClient[client] ?? 0) + 1
    const { next }: { next: string | null } = JSON.parse(answer.body)
    after = next === null ? '' : `&after=${next}`
  }
}

function faultsOfSearches(usual: Probe, crowded: Probe, { wrong, perClient }: Tally): string[] {
  const problems: string[] = []
  if (crowded.slow > slowest * usual.slow) problems.push('creates are kept waiting')
  if (wrong.size > 0) problems.push(`searches were answered ${[...wrong].join(', ')}`)
  const [least = 0, most = 0] = [Math.min(...perClient), Math.max(...perClient)]
  if (least * 2 < most) problems.push(`a client got ${least} answers, another ${most}`)
  return problems
}

export const searchFaults: Fault[] = [
  {
    name: 'searches',
    about: `${searchers} clients that search by name and tag without a pause`,
    async run(folder) {
      const database = join(folder, 'plants.db')
      const ledger: Ledger = new Map()
      const daemon = await serve(database)
      await fill(daemon)
      const usual = await probe(daemon, ledger, 4000)
      const memory = watchMemory(daemon.pid)
      const tally: Tally = { answers: 0, wrong: new Set(), perClient: Array(searchers).fill(0) }
      const connections = await Promise.all(
        Array.from({ length: searchers }, () => connect(daemon.port)),
      )
      const endAll = () => {
        for (const connection of connections) connection.end()
      }
      after(endAll)
      const searching = connections.map((it, client) => search(daemon, it, client, tally))
      await Bun.sleep(1000)
      const crowded = await probe(daemon, ledger, 8000)
      endAll()
      await Promise.all(searching)
      memory.stop()
      const problems = faultsOfSearches(usual, crowded, tally)
      if (memory.peak() > megabytes) problems.push('too much memory')
      if ((await daemon.stop()) !== 0) problems.push('a bad exit code')
      const verdict = verify(database, ledger)
      problems.push(...faultsOf({ ...verdict, strange: verdict.strange - plants }))
      return {
        tried: this.about,
        many: `${count(storedIn(ledger), 'create')}, median/p99 ${shown(crowded)}; ${count(tally.answers, 'page')} found`,
        lost: `usually ${shown(usual)}; own memory at most ${memory.peak()} MB`,
        problems,
      }
    },
  },
]
