// Resources shared by the tests of a file: made before the first test and ended after the last, never while the file
// loads.
import { afterAll, beforeAll, setDefaultTimeout } from 'bun:test'
import { PATIENCE_MS } from './daemon'

const ends: (() => unknown)[] = []

async function endAll(): Promise<void> {
  for (let end = ends.pop(); end; end = ends.pop()) await end()
}

/** Runs `make` before the first test of the file; `end` undoes it after the last one, the newest first. */
export function aroundTests(make: () => unknown, end: () => unknown, withinMs = PATIENCE_MS): void {
  setDefaultTimeout(PATIENCE_MS)
  beforeAll(async () => {
    ends.push(end)
    await make()
  }, withinMs)
  afterAll(endAll, withinMs)
}

/** An object that exists while the tests of the file run; only then can its members be read. */
export function own<T extends object>(
  make: () => T | Promise<T>,
  end: (made: T) => unknown = () => {},
  withinMs?: number,
): T {
  let made: T | undefined
  aroundTests(
    async () => {
      made = await make()
    },
    () => made && end(made),
    withinMs,
  )
  return new Proxy({} as T, {
    get(_, name) {
      if (!made) throw new Error(`"${String(name)}" is read before the first test`)
      const member = Reflect.get(made, name)
      return typeof member === 'function' ? member.bind(made) : member
    },
  })
}
