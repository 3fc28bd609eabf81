// The signals that stop a daemon, and the time limits of a stop.

import { closeSync, openSync } from 'node:fs'
import { IN_DOUBT, messageOf } from '../errors'
import type { Log } from '../log'
import {
  EXIT_CODES,
  ignoresHangup,
  SIGNAL_EXIT_CODES,
  STOP_SIGNALS,
  type StopSignal,
} from '../program'

// By default these end the process at once.
const IGNORED = ['SIGUSR1', 'SIGUSR2', 'SIGPIPE'] as const

// timeout(1) signals a process and then its group, and npm repeats the terminal's signal: both count once.
const SAME_SIGNAL_MS = 20

// The share of the time for requests in flight: the rest is for closing the database.
const DRAIN_SHARE = 0.75
const CLOSE_MS = 1000

// A shell may send SIGHUP just before its terminal closes.
const HANGUP_MS = 1000

/** True if this process has a terminal (tty(4)). */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

/**
 * Watches for the signals to stop: `first` and `second` resolve to them. A SIGHUP calls `reload`, and stops a daemon
 * whose terminal has closed, unless nohup(1) has started it.
 */
export function watchSignals(reload: () => void) {
  const first = Promise.withResolvers<StopSignal | 'SIGHUP'>()
  const second = Promise.withResolvers<StopSignal>()
  let firstAt: number | undefined
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      firstAt ??= performance.now()
      if (performance.now() >= firstAt + SAME_SIGNAL_MS) second.resolve(signal)
      else first.resolve(signal)
    })
  }
  const endsWithTerminal = hasTerminal() && !ignoresHangup()
  process.on('SIGHUP', async () => {
    reload()
    if (!endsWithTerminal) return
    if (hasTerminal()) await Bun.sleep(HANGUP_MS)
    if (!hasTerminal()) first.resolve('SIGHUP')
  })
  for (const signal of IGNORED) process.on(signal, () => {})
  return { first: first.promise, second: second.promise }
}

type Shutdown = {
  /** Answers requests in flight for at most this many milliseconds, then closes the database. */
  readonly close: (drainMs: number) => Promise<void>
  /** Resolves when the daemon must end at once. */
  readonly second: Promise<StopSignal>
  /** Milliseconds for both; closing gets at least a second. */
  readonly milliseconds: number
  readonly log: Log
}

/** The end of a daemon: its exit code, and the event that it logs. */
type End = readonly [code: number, ...event: Parameters<Log>]

/**
 * Answers requests in flight and closes the database. Resolves to the exit code, in time even if the disk hangs; the
 * process must then end, whatever is still pending.
 */
export async function shutDown(options: Shutdown): Promise<number> {
  const { close, second, milliseconds, log } = options
  const drainMs = milliseconds * DRAIN_SHARE
  const deadline = Math.max(milliseconds, drainMs + CLOSE_MS)
  const stopInOrder = async (): Promise<End> => {
    try {
      await close(drainMs)
      return [EXIT_CODES.ok, 'info', 'stopped']
    } catch (error) {
      return [EXIT_CODES.storage, 'error', 'close-failed', { detail: messageOf(error) }]
    }
  }
  const [code, ...event] = await Promise.race([
    stopInOrder(),
    second.then(
      (signal): End => [
        SIGNAL_EXIT_CODES[signal],
        'warn',
        'stopped-at-once',
        { signal, detail: IN_DOUBT },
      ],
    ),
    Bun.sleep(deadline).then(
      (): End => [
        EXIT_CODES.storage,
        'error',
        'stop-timed-out',
        { seconds: deadline / 1000, detail: IN_DOUBT },
      ],
    ),
  ])
  log(...event)
  return code
}
