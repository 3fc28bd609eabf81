// Interrupts by Ctrl-C, or by closing the terminal: the first signal ends a command cleanly, the second at once.

import { ignoresHangup, SIGNAL_EXIT_CODES, STOP_SIGNALS } from '../../program'

/**
 * Returns a signal that is aborted by the first stop signal, or by SIGHUP unless nohup ignores it. After that, or once
 * disposed, the signals have their default behaviour.
 */
export function watchInterrupt(): AbortSignal & Disposable {
  const signals = ignoresHangup() ? STOP_SIGNALS : (['SIGHUP', ...STOP_SIGNALS] as const)
  const controller = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    end()
    controller.abort(signal)
  }
  const end = () => {
    for (const signal of signals) process.off(signal, stop)
  }
  for (const signal of signals) process.on(signal, stop)
  return Object.assign(controller.signal, { [Symbol.dispose]: end })
}

const YIELD_EVERY_MS = 50

/** The same items; signals are handled in between, even if every item is ready at once. */
export async function* yieldForSignals<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  let yieldedAt = performance.now()
  for await (const item of items) {
    yield item
    if (performance.now() - yieldedAt < YIELD_EVERY_MS) continue
    await new Promise((resolve) => setImmediate(resolve))
    yieldedAt = performance.now()
  }
}

/** Runs `run`, which throws once the signal is aborted. Resolves to its exit code, or to that of the signal. */
export async function interruptible(
  run: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  using signal = watchInterrupt()
  try {
    return await run(signal)
  } catch (error) {
    if (!signal.aborted) throw error
    return SIGNAL_EXIT_CODES[signal.reason as keyof typeof SIGNAL_EXIT_CODES]
  }
}
