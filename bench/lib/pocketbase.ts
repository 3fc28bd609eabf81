// PocketBase, built from servers/pocketbase with the Go toolchain.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { countRows } from './plantstore.ts'
import { run } from './processes.ts'
import type { Server } from './server.ts'

const root = join(import.meta.dir, '..')
const executable = join(root, '.cache', 'pocketbase')

export async function buildPocketbase(): Promise<void> {
  if (!Bun.which('go')) return
  if (!existsSync(executable)) console.error('building PocketBase')
  await run({
    argv: ['go', 'build', '-o', executable, '.'],
    cwd: join(root, 'servers', 'pocketbase'),
  }).catch((error) => console.error(`cannot build PocketBase: ${error.message}`))
}

export function pocketbase({ durable }: { durable: boolean }): Server {
  return {
    name: durable ? 'pocketbase-durable' : 'pocketbase',
    description: durable ? 'PocketBase with synchronous=FULL' : 'PocketBase, default settings',
    durable: durable ? 'yes' : 'no',
    // Go calls the kernel itself.
    syncsByItself: true,
    unavailable() {
      if (existsSync(executable)) return undefined
      return Bun.which('go') ? 'not built: bun run peers' : 'Go is missing'
    },
    command: (port, folder) => ({
      argv: [executable, 'serve', '--http', `127.0.0.1:${port}`, '--dir', data(folder)],
      env: { PLANTS_DURABLE: durable ? '1' : '0' },
      cwd: folder,
    }),
    create: async (url) => ({
      path: '/api/collections/plants/records',
      token: await signIn(url),
      body: '{"name":"Monstera deliciosa","tag":"aroid"}',
    }),
    rows: (folder) => countRows(join(data(folder), 'data.db')),
  }
}

const data = (folder: string) => join(folder, 'pb_data')

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
