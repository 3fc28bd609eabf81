// plantstore's executable: how to build it and how to run it.
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run, temporaryFolder } from './processes.ts'
import type { Server } from './server.ts'

export const project = join(import.meta.dir, '..', '..')
export const executable = join(project, 'dist', 'plantstore')
export const token = 'a-token-for-the-bench'
export const plant = '{"id":#,"name":"Monstera deliciosa","tag":"aroid"}'

export const database = (folder: string) => join(folder, 'plants.db')

export function countRows(file: string): number {
  // Not read-only: that would leave a log behind, as if the database were in use.
  const db = new Database(file)
  try {
    const row = db.query<{ rows: number }, []>('SELECT count(*) AS rows FROM plants').get()
    return row?.rows ?? 0
  } finally {
    db.close()
  }
}

/** An executable of plantstore as a server. */
export function plantstoreAt(executable: string, name: string): Server {
  return {
    name,
    command: (port, folder) => ({
      argv: [executable, 'serve', '--port', String(port), '--database', database(folder)],
      env: { PLANTSTORE_TOKEN: token },
      cwd: folder,
    }),
    create: () => ({ path: '/plants', token, body: plant }),
    rows: (folder) => countRows(database(folder)),
  }
}

/** The same before a database of PostgreSQL, with further options of `serve`. */
export const beforePostgres = (
  program: string,
  name: string,
  url: string,
  options: readonly string[],
): Server => ({
  ...plantstoreAt(program, name),
  command: (port, folder) => ({
    argv: [program, 'serve', '--port', String(port), ...options],
    env: { PLANTSTORE_TOKEN: token, PLANTSTORE_DATABASE: url },
    cwd: folder,
  }),
})

export const plantstore = plantstoreAt(executable, 'plantstore')

/** Builds the source in a folder; returns the executable. */
export async function build(source: string): Promise<string> {
  console.error(`building plantstore in ${source}`)
  await run({ argv: [process.execPath, 'install', '--frozen-lockfile'], cwd: source })
  await run({ argv: [process.execPath, 'build.ts'], cwd: source })
  return join(source, 'dist', 'plantstore')
}

/** Builds a commit in a temporary folder; returns the executable. */
export async function buildCommit(commit: string): Promise<string> {
  const folder = temporaryFolder()
  const archive = join(folder, 'source.tar')
  await run({ argv: ['git', 'archive', '--output', archive, commit], cwd: project })
  await run({ argv: ['tar', '--extract', '--file', archive], cwd: folder })
  return build(folder)
}

/** Builds the working tree if dist/plantstore is missing. */
export async function buildPlantstore(): Promise<void> {
  if (!existsSync(executable)) await build(project)
}
