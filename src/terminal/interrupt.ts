// Ctrl-C: the first ends a command in order, the second at once.

import { signalExitCodes } from '../command'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** The exit code of a command that was interrupted. */
export const interruptCode = (signal: (typeof SIGNALS)[number]): number => signalExitCodes[signal]

/** Watches for the first signal to stop. `end` gives the signals back to the system. */
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
 * Runs what can be interrupted: `check` throws where it was. Resolves to the exit code, which is that of the signal
 * where one came.
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
