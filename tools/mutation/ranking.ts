// The order of the tests for a source file: first those that are likely to fail soon. Likely: they have killed mutants
// before, their path shares words with that of the file, and they import it at a short distance.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'

// Without those that need a build or a server of PostgreSQL, or are slow.
const TESTS = /^(change-log|cli|engine|formats|http|plant|slow\/long\/outage)\b.*\.test\.ts$/
const FOREIGN = /^engine\/(postgres|database-url)/
// It starts daemons.
const HARNESS = 'test/harness/daemon.ts'

const USUAL_MS = 1000

const wordsOf = (path: string): Set<string> => new Set(path.match(/[a-z]+/g))
const shareOf = (words: Set<string>, path: string): number => words.intersection(wordsOf(path)).size

/** Ranks the tests of a repository. */
export function createRanking(root: string) {
  const tests = readdirSync(join(root, 'test'), { recursive: true })
    .map(String)
    .filter((name) => TESTS.test(name) && !FOREIGN.test(name))
    .map((name) => join('test', name))
  const imports = new Map<string, readonly string[]>()
  const kills = new Map<string, number>()
  const times = new Map<string, number>()

  function importsOf(file: string): readonly string[] {
    const known = imports.get(file)
    if (known) return known
    const text = readFileSync(join(root, file), 'utf8')
    const found = [...text.matchAll(/'(\.\.?\/[\w./-]+)'/g)]
      .map(([, path = '']) => normalize(join(dirname(file), path)))
      .map((path) => (path.endsWith('.ts') ? path : `${path}.ts`))
      .filter((path) => existsSync(join(root, path)))
    if (file === HARNESS) found.push('src/main.ts')
    imports.set(file, found)
    return found
  }

  function distance(from: string, to: string): number {
    const seen = new Set([from])
    let front = [from]
    for (let steps = 0; front.length > 0; steps++) {
      if (front.includes(to)) return steps
      front = front.flatMap(importsOf).filter((file) => !seen.has(file) && seen.add(file))
    }
    return Number.POSITIVE_INFINITY
  }

  function near(file: string): readonly string[] {
    const name = basename(file)
    return tests
      .map((test) => {
        const words = wordsOf(test)
        const shared = shareOf(words, file) + shareOf(words, name)
        const chance = ((1 + (kills.get(test) ?? 0)) * 3 ** shared) / (1 + distance(test, file))
        return { test, value: chance / (times.get(test) ?? USUAL_MS) }
      })
      .sort((a, b) => b.value - a.value)
      .map(({ test }) => test)
  }

  return {
    near,
    killedBy: (test: string): void => void kills.set(test, 1 + (kills.get(test) ?? 0)),
    timeOf: (test: string): number | undefined => times.get(test),
    took: (test: string, time: number): void => void times.set(test, time),
  }
}
