// Patroni's cluster is hurt, while clients of two daemons create plants, and a third daemon only reads.
import { once, request } from '../../harness/http.ts'
import type { Daemon } from './daemon.ts'
import type { Fault, Report } from './fault.ts'
import { acknowledged, errorOf, health, type Load, plantOf, settle, startLoad } from './load.ts'
import { type Cluster, type Node, startCluster } from './patroni-cluster.ts'
import { serveBefore } from './postgres-server.ts'
import { faultsOf, judge, stopWell } from './verify.ts'

// As in deploy/patroni.yaml.
const LEASE_MS = 20_000
/** The lease, what Patroni needs to promote, and what a daemon needs to find it. */
const HEALED_MS = LEASE_MS + 20_000
// The numbers of plants of the second daemon.
const SECOND = 1e9

interface Writer {
  load: Load
  /** The plant that was acknowledged last. */
  last: () => { n: number; at: number }
  /** The longest time without one since the last call; milliseconds. */
  longest: () => number
}

function startWriter(daemon: Daemon, from: number): Writer {
  let last = { n: from, at: performance.now() }
  let longest = 0
  const onStored = (n: number) => {
    const at = performance.now()
    longest = Math.max(longest, at - last.at)
    last = { n, at }
  }
  return {
    load: startLoad(daemon, { clients: 8, pauseMs: 40, from, onStored }),
    last: () => last,
    longest() {
      const found = longest
      longest = 0
      return found
    },
  }
}

/** Reads plants that were acknowledged; returns for how long one was missing at most. */
function watchReads(daemon: Daemon, writers: readonly Writer[]) {
  let isOver = false
  let missingSince: number | null = null
  let longest = 0
  async function look(): Promise<void> {
    const { n, at } = writers.map((it) => it.last()).reduce((a, b) => (a.at > b.at ? a : b))
    const before = performance.now()
    const answer = await once(daemon.port, request('GET', `/plants/${plantOf(n).id}`, daemon.token))
    if (!answer || (answer.status !== 200 && errorOf(answer) !== 40402)) return
    if (answer.status === 200) missingSince = null
    else {
      missingSince ??= at
      longest = Math.max(longest, before - missingSince)
    }
  }
  const watching = (async () => {
    while (!isOver) {
      await look()
      await Bun.sleep(100)
    }
  })()
  return {
    longest() {
      const found = longest
      longest = 0
      return found
    },
    async stop() {
      isOver = true
      await watching
    },
  }
}

/** Hurts a cluster; resolves to what heals it, once writes go on without that. */
type Hurt = (cluster: Cluster, leader: Node) => Promise<(() => unknown) | undefined>

const hurts: readonly (readonly [name: string, hurt: Hurt])[] = [
  [
    'kill -9 of the primary',
    async (_, leader) => {
      await leader.signal('SIGKILL')
      return leader.start
    },
  ],
  [
    'a switchover',
    async (cluster) => {
      await cluster.switchOver()
      return undefined
    },
  ],
  [
    'a frozen primary',
    async (_, leader) => {
      await leader.signal('SIGSTOP')
      return () => leader.signal('SIGCONT')
    },
  ],
  [
    'etcd gone',
    async ({ nodes }) => {
      for (const node of nodes) node.signalEtcd('SIGSTOP')
      await Bun.sleep(LEASE_MS)
      return () => {
        for (const node of nodes) node.signalEtcd('SIGCONT')
      }
    },
  ],
  [
    'the network of the primary cut',
    async (_, leader) => {
      await leader.link('down')
      return () => leader.link('up')
    },
  ],
]

async function underLoad(folder: string, report: Report): Promise<void> {
  const cluster = await startCluster(folder)
  const start = () => serveBefore(cluster.url)
  const first = await start()
  const daemons = [first, await start()]
  const reader = await start()
  const writers = daemons.map((daemon, place) => startWriter(daemon, 1 + place * SECOND))
  const reads = watchReads(reader, writers)
  const gaps: string[] = []
  const writing = async (ms: number) =>
    (await Promise.all(writers.map(({ load }) => acknowledged(load.ledger, 100, ms)))).every(
      Boolean,
    )

  for (const [name, hurt] of hurts) {
    const leader = await cluster.whole()
    report.expect(await writing(HEALED_MS), `${name}: nothing is written before it`)
    for (const writer of writers) writer.longest()
    reads.longest()
    const heal = await hurt(cluster, leader)
    report.expect(await writing(HEALED_MS), `${name}: it did not heal`)
    await heal?.()
    await cluster.whole()
    const gap = Math.max(...writers.map((it) => it.longest()))
    const stale = reads.longest()
    gaps.push(`${name} ${(gap / 1000).toFixed(1)} s`)
    report.expect(stale <= LEASE_MS, `${name}: stale reads for ${Math.round(stale)} ms`)
    if (stale > 0) gaps.push(`(stale reads ${(stale / 1000).toFixed(1)} s)`)
  }

  const isHealthy = async () =>
    (await Promise.all([...daemons, reader].map(health))).every((it) => it === 200)
  await report.expectSoon(10_000, isHealthy, 'health stays bad')
  await Promise.all([reads.stop(), ...writers.map(({ load }) => load.stop())])
  for (const [place, { load }] of writers.entries())
    await settle(daemons[place] ?? first, load.ledger)
  const ledger = new Map(writers.flatMap(({ load }) => [...load.ledger]))
  for (const daemon of [...daemons, reader]) {
    const lost = await daemon.metric('plantstore_acknowledged_commits_lost_total')
    report.expect(lost === 0, 'a lane reports a loss')
    await stopWell(daemon, report)
  }
  report.note(...faultsOf(judge(await cluster.plants(), ledger)))
  // The figures of docs/failover.md.
  console.log(`without writes: ${gaps.join(', ')}`)
}

export const patroniFaults: Fault[] = [
  {
    name: 'patroni',
    about: 'three nodes of Patroni under load: none of what two daemons acknowledged is lost',
    run: underLoad,
  },
]
