// The peer in Rust, built from servers/axum-sqlite with cargo.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { countRows, database, plant, token } from './plantstore.ts'
import { run } from './processes.ts'
import type { Server } from './server.ts'

const source = join(import.meta.dir, '..', 'servers', 'axum-sqlite')
const executable = join(source, 'target', 'release', 'axum-sqlite')

export async function buildAxumSqlite(): Promise<void> {
  if (!Bun.which('cargo')) return
  if (!existsSync(executable)) console.error('building axum-sqlite')
  await run({ argv: ['cargo', 'build', '--release', '--locked'], cwd: source }).catch((error) =>
    console.error(`cannot build axum-sqlite: ${error.message}`),
  )
}

export function axumSqlite({ commitsEach }: { commitsEach: boolean }): Server {
  return {
    name: commitsEach ? 'axum-sqlite-commit-each' : 'axum-sqlite',
    description: `axum and rusqlite in Rust, ${commitsEach ? 'one commit per create' : 'group commit'}`,
    durable: 'yes',
    unavailable() {
      if (existsSync(executable)) return undefined
      return Bun.which('cargo') ? 'not built: bun run peers' : 'cargo is missing'
    },
    command: (port, folder) => ({
      argv: [
        ...[executable, String(port), database(folder), token],
        ...(commitsEach ? ['--commit-each'] : []),
      ],
      cwd: folder,
    }),
    create: () => ({ path: '/plants', token, body: plant }),
    rows: (folder) => countRows(database(folder)),
  }
}
