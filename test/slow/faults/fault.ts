// A fault: what it tries, and how its outcome is told.
import type { Ledger } from './load.ts'

export interface Outcome {
  tried: string
  many: string
  lost: string
  problems: string[]
}

export interface Fault {
  name: string
  about: string
  run: (folder: string) => Promise<Outcome>
}

/** Thrown by a fault that cannot be injected on this machine. It is shown, and counted as skipped. */
export class Skipped extends Error {}

export function count(n: number, noun: string): string {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`
}

export function tally(ledger: Ledger): { stored: number; refused: number; unknown: number } {
  const all = { stored: 0, refused: 0, unknown: 0 }
  for (const entry of ledger.values()) all[entry.fate]++
  return all
}

/** Polls until a condition holds; resolves to false after `ms`. */
export async function comesTrue(
  ms: number,
  holds: () => Promise<boolean> | boolean,
): Promise<boolean> {
  const end = performance.now() + ms
  for (;;) {
    if (await holds()) return true
    if (performance.now() > end) return false
    await Bun.sleep(20)
  }
}
