// Three machines with PostgreSQL, Patroni and etcd, as deploy/patroni.yaml has them; each is a network namespace.
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { PASSWORD } from '../../../tools/postgres/server.ts'
import { root } from '../../harness/daemon.ts'
import { startProcess } from '../../harness/process.ts'
import { comesTrue, Skipped } from './fault.ts'
import { after, need, sh } from './lab.ts'
import { DATABASE, installationAt, plantsIn, signalAll } from './postgres-server.ts'

const NODES = [1, 2, 3]
const WHOLE_MS = 60_000
// Some rounds of Patroni.
const STEADY_MS = 5000

type Member = { name: string; role: string; state: string }

/** Two networks: of the nodes with their clients, and of the nodes alone. */
async function startNetwork() {
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
    /** The address of a node for clients. */
    clients: (node: number) => address('c', node),
    /** The address of a node for the other nodes. */
    others: (node: number) => address('o', node),
    /** A prefix that runs a command in a node. */
    within: (node: number) => ['ip', 'netns', 'exec', space(node)],
    /** The processes of a node. */
    pids,
    link: (node: number, state: 'up' | 'down') => sh('ip', 'link', 'set', end('o', node), state),
  }
}

type Network = Awaited<ReturnType<typeof startNetwork>>

/** The command of a node's etcd, as deploy/patroni.yaml expects it. */
function etcdOf(node: number, { others }: Network, home: string): string[] {
  const [peer, client] = [2380, 2379].map((port) => `http://${others(node)}:${port}`)
  const peers = NODES.map((each) => `db${each}=http://${others(each)}:2380`).join(',')
  return [
    'etcd',
    `--name=db${node}`,
    `--data-dir=${join(home, 'etcd')}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--initial-cluster=${peers}`,
    ...['--enable-v2', '--logger=zap', '--log-level=error'],
  ]
}

/** Starts a node in a folder, as the user of PostgreSQL. */
async function startNode(node: number, network: Network, folder: string) {
  const [uid = 0, gid = 0] = (await sh('sh', '-c', 'id -u postgres; id -g postgres'))
    .split('\n')
    .map(Number)
  const as = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--pdeathsig=KILL']
  const home = join(folder, `db${node}`)
  const own = network.others(node)
  const run = (command: readonly string[], env: Record<string, string> = {}) =>
    startProcess([...network.within(node), ...as, ...command], { cwd: home, env })
  let etcd = 0
  const start = () => {
    etcd = run(etcdOf(node, network, home)).pid
    run(['patroni', join(home, 'patroni.yaml')], {
      PATRONI_NAME: `db${node}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `${own}:8008`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${own}:5432`,
      PATRONI_SUPERUSER_PASSWORD: PASSWORD,
      PATRONI_REPLICATION_PASSWORD: PASSWORD,
      HOME: home,
    })
  }
  mkdirSync(home, { mode: 0o700 })
  chownSync(home, uid, gid)
  const config = readFileSync(join(root, 'deploy/patroni.yaml'), 'utf8')
    .replaceAll(/\bdb([123]):2379/g, (_, each) => `${network.others(Number(each))}:2379`)
    .replaceAll(/\/var\/\w+\/postgresql/g, home)
  writeFileSync(join(home, 'patroni.yaml'), config, { mode: 0o644 })
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
    host: network.clients(node),
    /** Signals all its processes, etcd's too. */
    signal: async (name: NodeJS.Signals) => signalAll(await network.pids(node), name),
    signalEtcd: (name: NodeJS.Signals) => signalAll([etcd], name),
    /** Starts all of them again, after they were killed. */
    start,
    /** Cuts it off from the other nodes, not from the clients; or ends that. */
    link: (state: 'up' | 'down') => network.link(node, state),
  }
}

export type Node = Awaited<ReturnType<typeof startNode>>

/** Sends a request to the first node of Patroni that answers. */
async function ask(nodes: readonly Node[], path: string, body?: unknown): Promise<Response> {
  for (const { host } of nodes) {
    const options = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const signal = AbortSignal.timeout(body === undefined ? 2000 : 20_000)
    const answer = await fetch(`http://${host}:8008${path}`, { ...options, signal }).catch(
      () => null,
    )
    if (answer) return answer
  }
  return new Response('{"members":[]}', { status: 503 })
}

/** The leader, if all nodes run, and one of them is the synchronous standby. */
async function leaderOf(nodes: readonly Node[]): Promise<Node | undefined> {
  const { members = [] } = (await (await ask(nodes, '/cluster')).json()) as { members?: Member[] }
  const running = members.filter(({ state }) => /^(running|streaming)$/.test(state))
  const nameOf = (role: string) => running.find((it) => it.role === role)?.name
  if (running.length < NODES.length || nameOf('sync_standby') === undefined) return undefined
  return nodes.find(({ name }) => name === nameOf('leader'))
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/** Starts a cluster with an empty database; it is gone at the end of the fault. */
export async function startCluster(folder: string) {
  await need('patroni', 'etcd', 'ip', 'setpriv')
  await installationAt(0)
  const network = await startNetwork()
  chmodSync(join(folder, '..'), 0o755)
  const nodes: Node[] = []
  for (const node of NODES) nodes.push(await startNode(node, network, folder))
  async function whole(): Promise<Node> {
    let found: Node | undefined
    let since = performance.now()
    const isWhole = async () => {
      const next = await leaderOf(nodes)
      if (next !== found) since = performance.now()
      found = next
      return found !== undefined && performance.now() - since > STEADY_MS
    }
    const isSteady = await comesTrue(WHOLE_MS, isWhole)
    if (isSteady && found !== undefined) return found
    throw new Error(`the cluster is not whole: ${await (await ask(nodes, '/cluster')).text()}`)
  }
  async function query<Row>(database: string, statement: string): Promise<Row[]> {
    const { host } = await whole()
    const sql = new SQL({
      ...{ adapter: 'postgres', hostname: host, port: 5432, tls: 'disable', max: 1 },
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
    /** The URL of the database, without a password. */
    url: `postgres://postgres@${nodes.map(({ host }) => host)}/${DATABASE}?sslmode=disable&connect_timeout=2`,
    /** Waits until all nodes run, and one of them is the synchronous standby; resolves to the leader. */
    whole,
    /** Asks Patroni for a switchover. */
    async switchOver(): Promise<void> {
      const answer = await ask(nodes, '/switchover', { leader: (await whole()).name })
      if (!answer.ok) throw new Error(`no switchover: ${await answer.text()}`)
    },
    /** The plants of the leader. */
    plants: () => plantsIn((statement) => query(DATABASE, statement)),
  }
}
