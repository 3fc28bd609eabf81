// Processes and temporary folders of a command. They are removed when it ends, even by a signal.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'

const running = new Set<Subprocess>()
const folders = new Set<string>()

process.on('exit', () => {
  for (const child of running) killGroup(child)
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))
process.on('SIGHUP', () => process.exit(129))

// A child leads its own process group, so that the children of a shell end with it.
function killGroup(child: Subprocess): void {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plantstore-bench-'))
  folders.add(folder)
  return folder
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  folders.delete(folder)
}

export type Command = { argv: string[]; env?: Record<string, string>; cwd?: string }

function track<T extends Subprocess>(child: T): T {
  running.add(child)
  child.exited.finally(() => running.delete(child))
  return child
}

/** Starts a process whose output goes to `log`. */
export function start(command: Command, log: string): Subprocess {
  const output = openSync(log, 'a')
  try {
    return track(
      Bun.spawn(command.argv, {
        cwd: command.cwd ?? process.cwd(),
        env: { ...process.env, NODE_ENV: 'production', ...command.env },
        detached: true,
        stdin: 'ignore',
        stdout: output,
        stderr: output,
      }),
    )
  } finally {
    closeSync(output)
  }
}

/** Runs a process to its end and returns its standard output; throws if it fails. */
export async function run(command: Command): Promise<string> {
  const child = track(
    Bun.spawn(command.argv, {
      cwd: command.cwd ?? process.cwd(),
      env: { ...process.env, ...command.env },
      detached: true,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.argv.join(' ')} ended with ${code}\n${out}${err}`)
  return out
}

/** Sends SIGTERM, and SIGKILL after `patience` milliseconds. */
export async function stop(child: Subprocess, patience = 30_000): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
  const kill = setTimeout(() => killGroup(child), patience)
  await child.exited
  clearTimeout(kill)
}

export function readLog(log: string): string {
  return readFileSync(log, 'utf8').slice(-2000)
}
