// A disk with slow syncs, by strace.
import type { Command } from './processes.ts'

/** Adds milliseconds to each fsync and fdatasync of a command. */
export function withSlowSyncs(ms: number): (command: Command) => Command {
  const syncs = 'fsync,fdatasync'
  // strace must start the process: only then can its seccomp filter leave other system calls alone.
  return (command) => ({
    ...command,
    argv: [
      ...['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', `trace=${syncs}`],
      ...(ms > 0 ? ['-e', `inject=${syncs}:delay_enter=${ms * 1000}`] : []),
      ...command.argv,
    ],
  })
}
