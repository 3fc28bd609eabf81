// A disk whose syncs are slow.
import type { Command } from './processes.ts'

/** The same command, with so many milliseconds added to each of its fsync and fdatasync. */
export function withSlowSyncs(ms: number): (command: Command) => Command {
  const syncs = 'fsync,fdatasync'
  // strace must start the process: its seccomp filter, which lets every other system call run at
  // full speed, has to be set before the first instruction.
  return (command) => ({
    ...command,
    argv: [
      ...['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', `trace=${syncs}`],
      ...(ms > 0 ? ['-e', `inject=${syncs}:delay_enter=${ms * 1000}`] : []),
      ...command.argv,
    ],
  })
}
