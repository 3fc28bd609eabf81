// The servers that are compared.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { axumSqlite } from './axum-sqlite.ts'
import { countRows, database, plant, plantstore, token } from './plantstore.ts'
import { pocketbase } from './pocketbase.ts'
import type { Server } from './server.ts'

const root = join(import.meta.dir, '..')
const script = (name: string) => join(root, 'servers', name)
const create = () => ({ path: '/plants', token, body: plant })

function onBun(name: string, description: string): Server {
  return {
    name,
    description,
    durable: 'stores nothing',
    command: (port, folder) => ({
      argv: [process.execPath, script(`${name}.ts`), String(port)],
      cwd: folder,
    }),
    create,
  }
}

function withSqlite(name: string, description: string, argv: string[]): Server {
  return {
    name,
    description,
    durable: 'yes',
    command: (port, folder) => ({
      argv: [...argv, String(port), database(folder), token],
      cwd: folder,
    }),
    create,
    rows: (folder) => countRows(database(folder)),
  }
}

function onNode(name: string, description: string): Server {
  return {
    ...withSqlite(name, description, ['node', script(`${name}.mjs`)]),
    unavailable() {
      if (!Bun.which('node')) return 'Node.js is missing'
      const addon = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'
      if (!existsSync(join(root, addon))) return 'not built: bun run peers'
      return undefined
    },
  }
}

const jsonServer: Server = {
  name: 'json-server',
  description: 'Node, writes the whole file for each create, no authentication',
  durable: 'no',
  unavailable: () => (Bun.which('node') ? undefined : 'Node.js is missing'),
  command: (port, folder) => {
    writeFileSync(join(folder, 'plants.json'), '{"plants":[]}')
    const program = join(root, 'node_modules/json-server/lib/cli/bin.js')
    return {
      argv: ['node', program, '--quiet', '--port', String(port), 'plants.json'],
      cwd: folder,
    }
  },
  create,
  rows: async (folder) => {
    const { plants } = await Bun.file(join(folder, 'plants.json')).json()
    return plants.length
  },
}

export const ceiling = onBun('ceiling', 'bare Bun.serve that echoes')
export const readCeiling = onBun('ceiling-reads', 'bare Bun.serve that answers a constant')

export const bareReads = withSqlite('bare-reads', 'bare Bun.serve that reads the same file', [
  process.execPath,
  script('bare-reads.ts'),
])

export const commitEach = withSqlite('plantstore-commit-each', 'plantstore without group commit', [
  process.execPath,
  script('plantstore-commit-each.ts'),
])

/** One INSERT per create into a database of PostgreSQL, by a pool of so many connections. */
export function insertEach(url: string, name: string, pool: number): Server {
  return {
    name,
    description: 'bare Bun.serve, one INSERT per create',
    durable: 'yes',
    command: (port, folder) => ({
      argv: [process.execPath, script('insert-each.ts'), String(port), url, token, String(pool)],
      cwd: folder,
    }),
    create,
  }
}

export const servers: Server[] = [
  ceiling,
  onBun('elysia-validates', 'Elysia that validates and stores nothing'),
  plantstore,
  commitEach,
  axumSqlite({ commitsEach: false }),
  axumSqlite({ commitsEach: true }),
  withSqlite('elysia-sqlite', 'Elysia on Bun, one commit per create', [
    process.execPath,
    script('elysia-sqlite.ts'),
  ]),
  withSqlite('hono-sqlite', 'Hono on Bun, one commit per create', [
    process.execPath,
    script('hono-sqlite.ts'),
  ]),
  onNode('fastify-sqlite', 'Fastify on Node, one commit per create'),
  onNode('express-sqlite', 'Express on Node, one commit per create'),
  pocketbase({ durable: true }),
  pocketbase({ durable: false }),
  jsonServer,
]
