// Tests that every engine runs.
import { describe, test } from 'bun:test'
import { PATIENCE_MS } from './daemon'

/** A contract, each test of which gets an empty resource of its own. `test` adds one; `run` runs all for an engine. */
export function createContract<Tested extends AsyncDisposable>(withinMs = PATIENCE_MS) {
  type Run = (tested: Tested, make: () => Promise<Tested>) => Promise<void>
  const tests: [title: string, run: Run][] = []
  return {
    test: (title: string, run: Run) => void tests.push([title, run]),
    run: (name: string, make: () => Promise<Tested>) =>
      describe(name, () => {
        test.each(tests)(
          '%s',
          async (_, run) => {
            await using tested = await make()
            await run(tested, make)
          },
          withinMs,
        )
      }),
  }
}
