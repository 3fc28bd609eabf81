// Three machines with PostgreSQL, Patroni and etcd, as deploy/patroni.yaml has them; each is a network namespace.
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { PASSWORD } from '../../../tools/postgres/server.ts'
import { root } from '../../harness/daemon.ts'
import type { StoredPlant } from '../../harness/plants.ts'
import { startProcess } from '../../harness/process.ts'
import { comesTrue, Skipped } from './fault.ts'
import { after, need, sh } from './lab.ts'
import { DATABASE, installationAt, plantsIn, signalAll } from './postgres-server.ts'

const NODES = [1, 2, 3]
const WHOLE_MS = 60_000
// Some rounds of Patroni.
const STEADY_MS = 5000

type Member = { name: string; role: string; state: string }

export interface Node {
  name: string
  /** Signals all its processes, etcd's too. */
  signal: (name: NodeJS.Signals) => Promise<void>
  signalEtcd: (name: NodeJS.Signals) => void
  /** Starts all of them again, after they were killed. */
  start: () => void
  /** Cuts it off from the other nodes, not from the clients; or ends that. */
  link: (state: 'up' | 'down') => Promise<unknown>
}

export interface Cluster {
  nodes: readonly Node[]
  /** The URL of the database, without a password. */
  url: string
  /** Waits until all nodes run, and one of them is the synchronous standby; resolves to the leader. */
  whole: () => Promise<Node>
  /** Asks Patroni for a switchover. */
  switchOver: () => Promise<void>
  /** The plants of the leader. */
  plants: () => Promise<Map<bigint, StoredPlant>>
}

interface Network {
  /** The address of a node for clients, and for the other nodes. */
  clients: (node: number) => string
  others: (node: number) => string
  /** Runs a command in a node. */
  within: (node: number) => string[]
  /** The processes of a node. */
  pids: (node: number) => Promise<number[]>
  link: (node: number, state: 'up' | 'down') => Promise<unknown>
}

/** Two networks: of the nodes with their clients, and of the nodes alone. */
async function startNetwork(): Promise<Network> {
  const octet = 100 + Math.floor(Math.random() * 100)
  const space = (node: number) => `plantstore-${octet}-${node}`
  const kinds = ['c', 'o'] as const
  const bridge = (kind: string) => `ps${octet}${kind}`
  const end = (kind: string, node: number) => `ps${octet}${kind}${node}`
  const address = (kind: string, node: number) => `10.${octet}.${kind === 'c' ? 0 : 1}.${node + 10}`
  const pids = async (node: number) =>
    (await sh('ip', 'netns', 'pids', space(node))).split('\n').filter(Boolean).map(Number)
  try {
    for (const kind of kinds) {
      await sh('ip', 'link', 'add', bridge(kind), 'type', 'bridge')
      after(() => sh('ip', 'link', 'delete', bridge(kind)))
      await sh('ip', 'link', 'set', bridge(kind), 'up')
    }
    await sh('ip', 'address', 'add', `10.${octet}.0.1/24`, 'dev', bridge('c'))
    for (const node of NODES) {
      await sh('ip', 'netns', 'add', space(node))
      after(() => sh('ip', 'netns', 'delete', space(node)))
      const inside = ['ip', '-netns', space(node)]
      await sh(...inside, 'link', 'set', 'lo', 'up')
      for (const kind of kinds) {
        const peer = ['peer', 'name', kind, 'netns', space(node)]
        await sh('ip', 'link', 'add', end(kind, node), 'type', 'veth', ...peer)
        await sh('ip', 'link', 'set', end(kind, node), 'master', bridge(kind), 'up')
        await sh(...inside, 'address', 'add', `${address(kind, node)}/24`, 'dev', kind)
        await sh(...inside, 'link', 'set', kind, 'up')
      }
    }
  } catch (error) {
    throw new Skipped(`no network namespaces here: ${error}`)
  }
  return {
    clients: (node) => address('c', node),
    others: (node) => address('o', node),
    within: (node) => ['ip', 'netns', 'exec', space(node)],
    pids,
    link: (node, state) => sh('ip', 'link', 'set', end('o', node), state),
  }
}

/** Starts a cluster with an empty database; it is gone at the end of the fault. */
export async function startCluster(folder: string): Promise<Cluster> {
  await need('patroni', 'etcd', 'ip', 'setpriv')
  await installationAt(0)
  const network = await startNetwork()
  const [uid, gid] = [
    Number(await sh('id', '-u', 'postgres')),
    Number(await sh('id', '-g', 'postgres')),
  ]
  const as = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--pdeathsig=KILL']
  chmodSync(join(folder, '..'), 0o755)
  const home = (node: number) => join(folder, `db${node}`)
  const peers = NODES.map((node) => `db${node}=http://${network.others(node)}:2380`).join(',')
  const config = readFileSync(join(root, 'deploy/patroni.yaml'), 'utf8').replaceAll(
    /\bdb([123]):2379/g,
    (_, node) => `${network.others(Number(node))}:2379`,
  )

  function startNode(node: number): Node {
    const own = network.others(node)
    const run = (command: readonly string[], env: Record<string, string> = {}) =>
      startProcess([...network.within(node), ...as, ...command], { cwd: home(node), env })
    let etcd = 0
    const start = () => {
      etcd = run([
        'etcd',
        ...['--name', `db${node}`, '--data-dir', join(home(node), 'etcd')],
        ...[
          '--listen-peer-urls',
          `http://${own}:2380`,
          '--initial-advertise-peer-urls',
          `http://${own}:2380`,
        ],
        ...[
          '--listen-client-urls',
          `http://${own}:2379`,
          '--advertise-client-urls',
          `http://${own}:2379`,
        ],
        ...['--initial-cluster', peers, '--enable-v2', '--logger', 'zap', '--log-level', 'error'],
      ]).pid
      run(['patroni', join(home(node), 'patroni.yaml')], {
        PATRONI_NAME: `db${node}`,
        PATRONI_RESTAPI_CONNECT_ADDRESS: `${own}:8008`,
        PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${own}:5432`,
        PATRONI_SUPERUSER_PASSWORD: PASSWORD,
        PATRONI_REPLICATION_PASSWORD: PASSWORD,
        HOME: home(node),
      })
    }
    mkdirSync(home(node), { mode: 0o700 })
    chownSync(home(node), uid, gid)
    const text = config.replaceAll(/\/var\/\w+\/postgresql/g, home(node))
    writeFileSync(join(home(node), 'patroni.yaml'), text, { mode: 0o644 })
    start()
    after(async () => {
      const gone = async () => {
        const pids = await network.pids(node)
        signalAll(pids, 'SIGKILL')
        return pids.length === 0
      }
      await comesTrue(10_000, gone)
    })
    return {
      name: `db${node}`,
      signal: async (name) => signalAll(await network.pids(node), name),
      signalEtcd: (name) => signalAll([etcd], name),
      start,
      link: (state) => network.link(node, state),
    }
  }

  const nodes = NODES.map(startNode)
  const ask = async (path: string, body?: unknown): Promise<Response> => {
    for (const node of NODES) {
      const options = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const timeout = { signal: AbortSignal.timeout(body === undefined ? 2000 : 20_000) }
      const url = `http://${network.clients(node)}:8008${path}`
      const answer = await fetch(url, { ...options, ...timeout }).catch(() => null)
      if (answer) return answer
    }
    return new Response('{"members":[]}', { status: 503 })
  }
  const memberOf = async (role: string) => {
    const { members = [] } = (await (await ask('/cluster')).json()) as { members?: Member[] }
    const running = members.filter(({ state }) => /^(running|streaming)$/.test(state))
    return running.length === NODES.length
      ? running.find((it) => it.role === role)?.name
      : undefined
  }
  async function whole(): Promise<Node> {
    let found: Node | undefined
    let since = performance.now()
    const isWhole = async () => {
      const leader = await memberOf('leader')
      const standby = await memberOf('sync_standby')
      const next = standby === undefined ? undefined : nodes.find(({ name }) => name === leader)
      if (next !== found) since = performance.now()
      found = next
      return found !== undefined && performance.now() - since > STEADY_MS
    }
    const isSteady = await comesTrue(WHOLE_MS, isWhole)
    if (isSteady && found !== undefined) return found
    throw new Error(`the cluster is not whole: ${await (await ask('/cluster')).text()}`)
  }
  const leaderHost = async () => network.clients(Number((await whole()).name.slice(2)))
  async function query<Row>(database: string, statement: string): Promise<Row[]> {
    const sql = new SQL({
      ...{ adapter: 'postgres', hostname: await leaderHost(), port: 5432, tls: 'disable', max: 1 },
      ...{ username: 'postgres', password: PASSWORD, database },
    })
    try {
      return await sql.unsafe(statement).simple()
    } finally {
      await sql.close({ timeout: 0 })
    }
  }
  await query('postgres', `CREATE DATABASE ${DATABASE}`)
  return {
    nodes,
    url: `postgres://postgres@${NODES.map(network.clients).join(',')}/${DATABASE}?sslmode=disable&connect_timeout=2`,
    whole,
    async switchOver() {
      const answer = await ask('/switchover', { leader: (await whole()).name })
      if (!answer.ok) throw new Error(`no switchover: ${await answer.text()}`)
    },
    plants: () => plantsIn((statement) => query(DATABASE, statement)),
  }
}
