// A fault, and the report of what it found.

export interface Fault {
  name: string
  about: string
  /** Injects it, and notes what is wrong. */
  run: (folder: string, report: Report) => Promise<unknown>
}

/** The problems that a fault has found. */
export class Report {
  readonly problems: string[] = []
  /** What was counted; printed of a fault that passed, too. */
  readonly counts: string[] = []

  note(...problems: string[]): void {
    this.problems.push(...problems)
  }

  expect(holds: boolean, problem: string): void {
    if (!holds) this.note(problem)
  }

  /** Notes a problem unless a condition holds within so many milliseconds. */
  async expectSoon(ms: number, holds: Condition, problem: string): Promise<void> {
    this.expect(await comesTrue(ms, holds), problem)
  }
}

/** Thrown by a fault that cannot be injected on this machine. It is shown, and counted as skipped. */
export class Skipped extends Error {}

type Condition = () => Promise<boolean> | boolean

/** Polls until a condition holds; resolves to false after `ms`. */
export async function comesTrue(ms: number, holds: Condition): Promise<boolean> {
  const end = performance.now() + ms
  for (;;) {
    if (await holds()) return true
    if (performance.now() > end) return false
    await Bun.sleep(20)
  }
}
