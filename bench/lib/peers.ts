// The servers that plantstore is compared with: how each is built and run.
import { join } from 'node:path'
import { countRows, database, plant, token } from './plantstore.ts'
import { run } from './processes.ts'
import type { Server } from './server.ts'

const root = join(import.meta.dir, '..')
const script = (name: string) => join(root, 'servers', name)
const create = () => ({ path: '/plants', token, body: plant })

const onBun = (name: string, file: string): Server => ({
  name,
  command: (port, folder) => ({
    argv: [process.execPath, script(file), String(port)],
    cwd: folder,
  }),
  create,
})

/** Bare `Bun.serve`: one parses the body and echoes it, one answers reads with a constant. */
export const bare = onBun('bare Bun.serve', 'bare.ts')
export const bareReads = onBun('constant', 'bare-reads.ts')

function withSqlite(name: string, argv: readonly string[], needs: string): Server {
  return {
    name,
    needs,
    command: (port, folder) => ({
      argv: [...argv, String(port), database(folder), token],
      cwd: folder,
    }),
    create,
    rows: (folder) => countRows(database(folder)),
  }
}

const axumProgram = script('axum-sqlite/target/release/axum-sqlite')
const axum = withSqlite('axum on Rust, group commit', [axumProgram], axumProgram)
const fastify = withSqlite(
  'Fastify on Node.js, better-sqlite3',
  ['node', script('fastify-sqlite.mjs')],
  join(root, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'),
)

const pocketbaseProgram = join(root, '.cache', 'pocketbase')
const dataOf = (folder: string) => join(folder, 'pb_data')

async function signIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/collections/users/auth-with-password`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ identity: 'bench@example.com', password: 'a long password' }),
  })
  const { token } = (await answer.json()) as { token?: string }
  if (!token) throw new Error(`cannot sign in to PocketBase: ${answer.status}`)
  return token
}

/** Opens its databases with synchronous=FULL. Its default answers a commit before it is synced. */
const pocketbase: Server = {
  name: 'PocketBase, synchronous=FULL',
  needs: pocketbaseProgram,
  command: (port, folder) => ({
    argv: [pocketbaseProgram, 'serve', '--http', `127.0.0.1:${port}`, '--dir', dataOf(folder)],
    cwd: folder,
  }),
  create: async (url) => ({
    path: '/api/collections/plants/records',
    token: await signIn(url),
    body: '{"name":"Monstera deliciosa","tag":"aroid"}',
  }),
  rows: (folder) => countRows(join(dataOf(folder), 'data.db')),
}

export const peers: readonly Server[] = [axum, fastify, pocketbase]

/** One INSERT per create into a database of PostgreSQL, by a pool of so many connections. */
export const insertEach = (url: string, pool: number): Server => ({
  name: `one INSERT per create, pool of ${pool}`,
  command: (port, folder) => ({
    argv: [process.execPath, script('insert-each.ts'), String(port), url, token, String(pool)],
    cwd: folder,
  }),
  create,
})

async function build(name: string, argv: string[], cwd: string): Promise<void> {
  console.error(`building ${name}`)
  await run({ argv, cwd }).catch(({ message }) => console.error(`cannot build ${name}: ${message}`))
}

/** Installs and builds the peers; what cannot be built is reported, and left out of the comparison. */
export async function buildPeers(): Promise<void> {
  await build('fastify-sqlite', [process.execPath, 'install', '--frozen-lockfile'], root)
  const cargo = ['cargo', 'build', '--release', '--locked']
  await build('axum-sqlite', cargo, script('axum-sqlite'))
  await build('pocketbase', ['go', 'build', '-o', pocketbaseProgram, '.'], script('pocketbase'))
}
