// Instructions executed are far steadier than requests per second on a machine that others use.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'plantstore-bench-perf-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

let runs = 0
let supported: boolean | undefined

function stat(target: string[], argv: string[]) {
  const file = join(folder, String(runs++))
  const perf = ['perf', 'stat', '-x,', '-e', 'instructions', '-o', file, ...target]
  return { command: [...perf, '--', ...argv], read: () => instructions(file) }
}

function instructions(file: string): number | undefined {
  const lines = readFileSync(file, 'utf8').split('\n')
  const count = Number(lines.find((line) => line.includes('instructions'))?.split(',')[0])
  return count > 0 ? count : undefined
}

function works(): boolean {
  if (!Bun.which('perf')) return false
  const { command, read } = stat([], ['true'])
  return Bun.spawnSync(command).success && read() !== undefined
}

/** The command under perf, watching `pid`; without a counter, the command as it is. */
export function countInstructions(pid: number, argv: string[]) {
  supported ??= works()
  return supported ? stat(['-p', String(pid)], argv) : { command: argv, read: () => undefined }
}
