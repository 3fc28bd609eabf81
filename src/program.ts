// The program for other processes: its commit, exit codes and path, and quoting for a shell.

import { readFileSync } from 'node:fs'

// Defined by build.ts.
declare const BUILD_COMMIT: string

/** The commit that the executable was built from, 12 digits or more; `unknown` without Git, or if the source runs. */
export const COMMIT: string = typeof BUILD_COMMIT === 'undefined' ? 'unknown' : BUILD_COMMIT

/** Ends the start of an executable, which compiles less to machine code: code that runs once is not worth it. */
export const compileEagerly = (): void => Bun.unsafe.setJITPolicy(1)

/** The exit codes of every command; `storage` is EX_IOERR of sysexits.h. */
export const EXIT_CODES = { ok: 0, failure: 1, usage: 2, storage: 74 } as const

/** The exit codes after the signals to stop, as a shell counts them: 128 plus the signal's number. */
export const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const
/** The signals that stop a daemon. SIGHUP does only if its terminal has closed. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const
export type StopSignal = (typeof STOP_SIGNALS)[number]

// The signals that a process ignores: a mask, of which bit 0 is signal 1, SIGHUP (proc_pid_status(5)).
const IGNORED = /^SigIgn:\s*([\da-f]+)$/m

/** True if this process was started to outlive its terminal, such as by nohup(1). */
export function ignoresHangup(): boolean {
  try {
    const [, mask = '0'] = IGNORED.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return (BigInt(`0x${mask}`) & 1n) === 1n
  } catch {
    return false
  }
}

/** The command that starts this program again: the executable, or Bun with the source. */
export const ownProgram = (): readonly string[] =>
  Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main]

/** Quotes a word for a shell. */
export const quote = (word: string): string =>
  /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
