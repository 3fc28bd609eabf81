// Shared by the tests of commands: databases made by import, fingerprints of folders, and the tools of this machine.

import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type DaemonOptions, program, type RunOptions, runProgram, startDaemon } from './daemon'
import { temporaryFolder } from './folder'
import { type run, startProcess } from './process'

/** NDJSON of plants with the ids from `from` on, below `end`. */
export const lines = (from: number, end: number): string =>
  Array.from(
    { length: end - from },
    (_, i) => `{"id":${from + i},"name":"plant ${from + i}"}\n`,
  ).join('')

export const importLines = (database: string, stdin: string) =>
  runProgram(['import', '-', '--format', 'ndjson', '--database', database], { stdin })

/** The output of a daemon on a terminal, from its start to SIGTERM, once it has said how to make a token. */
async function serveOnTerminal(database: string, flags: readonly string[]): Promise<string> {
  const words = [...program, 'serve', '--port', '0', '--database', database, ...flags]
  const command = `echo pid=$$; exec ${words.map((word) => `'${word}'`).join(' ')}`
  await using terminal = startProcess(
    ['script', '--quiet', '--return', '--command', command, '/dev/null'],
    { env: { SHELL: '/bin/sh' } },
  )
  await terminal.prints(() => terminal.out().includes('to make another token'))
  process.kill(Number(/pid=(\d+)/.exec(terminal.out())?.[1]), 'SIGTERM')
  expect(await terminal.finished).toBe(0)
  return terminal.out()
}

/** A folder with a database of a test, which commands and daemons make. */
export function storeFolder() {
  const folder = temporaryFolder()
  const database = folder.file('plants.db')
  return {
    ...folder,
    database,
    /** Imports the plants with the ids from 0 on. */
    fill: (plants: number) => importLines(database, lines(0, plants)),
    /** Runs a command on the database. */
    run: (words: readonly string[], options?: RunOptions) =>
      runProgram([...words, '--database', database], options),
    serve: (options: DaemonOptions = {}) => startDaemon({ ...options, database }),
    serveOnTerminal: (...flags: readonly string[]) => serveOnTerminal(database, flags),
    /** Imports a text. */
    load: (format: string, stdin: string | Blob, ...flags: readonly string[]) =>
      runProgram(['import', '-', '--format', format, '--database', database, ...flags], { stdin }),
    /** Changes the database like another program. */
    edit(sql: string): void {
      using db = new Database(database)
      db.run(sql)
    },
  }
}

/** Expects that a command refuses in one line, and prints nothing else; returns its reason. */
export function refusalOf(
  { out, err, code }: Awaited<ReturnType<typeof run>>,
  expectedCode = 1,
): string {
  expect({ out, code }).toEqual({ out: '', code: expectedCode })
  expect(err).toMatch(/^plantstore: .+\n$/)
  return err.slice('plantstore: '.length, -1)
}

export const check = (database: string) => runProgram(['check', '--database', database])

/** Expects that a database is sound, with so many plants. */
export async function expectSound(database: string, plants: number): Promise<void> {
  expect((await check(database)).out).toStartWith(`ok: ${plants} plant`)
}

/** Runs a command as a user who is not root. */
export const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const

/** True if a program can be run on a terminal, by script(1) of util-linux. */
export const hasScript = Bun.spawnSync(['sh', '-c', 'script --version']).stdout.includes(
  'util-linux',
)

/** Runs a program on a terminal that does not know its size. */
export function onTerminal(words: readonly string[]) {
  const command = words.map((word) => `'${word}'`).join(' ')
  const script = ['script', '--quiet', '--return', '--command', command, '/dev/null']
  return Bun.spawnSync(script, { stdin: 'ignore' })
}

/** True if this machine can be reached by `::1`. */
export const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)

/** Content, mode, owner and time of every file of a folder, and of the folder itself. */
export function fingerprint(folder: string): Record<string, string> {
  const names = ['.', ...readdirSync(folder, { recursive: true }).map(String).sort()]
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name)
      const { mode, uid, mtimeNs, size } = statSync(path, { bigint: true })
      const isFile = statSync(path).isFile()
      const hash = isFile ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
      return [name, `${mode.toString(8)} ${uid} ${mtimeNs} ${size} ${hash}`]
    }),
  )
}
