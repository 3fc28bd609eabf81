// Ctrl-C: the first one ends a command cleanly, the second at once.

import { signalExitCodes } from '../command'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** The exit code of a command that was interrupted. */
export const interruptCode = (signal: (typeof SIGNALS)[number]): number => signalExitCodes[signal]

/** Watches for the first signal to stop. `end` restores the default behaviour of the signals. */
export function watchInterrupt() {
  const controller = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    end()
    controller.abort(signal)
  }
  const end = () => {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  return { signal: controller.signal, end }
}

/**
 * Runs `act`, which can be interrupted: its `check` throws after a signal. Resolves to the exit code, or to the signal's
 * if one came.
 */
export async function interruptible(act: (check: () => void) => Promise<number>): Promise<number> {
  const { signal, end } = watchInterrupt()
  try {
    return await act(() => signal.throwIfAborted())
  } catch (error) {
    if (!signal.aborted) throw error
    return interruptCode(signal.reason)
  } finally {
    end()
  }
}
