// The tests for a source file, nearest first: their path shares words with that of the file, and they import it at a
// short distance.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'

// Without those that need a build or a server of PostgreSQL, or are slow.
const TESTS = /^(change-log|cli|engine|formats|http|plant|slow\/long\/outage)\b.*\.test\.ts$/
const FOREIGN = /^engine\/(postgres|database-url)/
const DAEMON = 'src/main.ts'
const HARNESS = 'test/harness/daemon.ts'
const STARTS_DAEMONS = /\b(startDaemon|runProgram|program)\(/

const wordsOf = (path: string): Set<string> => new Set(path.match(/[a-z]+/g))
const shareOf = (words: Set<string>, path: string): number => words.intersection(wordsOf(path)).size

/** Finds the tests of a repository for its files. */
export function createNear(root: string) {
  const tests = readdirSync(join(root, 'test'), { recursive: true })
    .map(String)
    .filter((name) => TESTS.test(name) && !FOREIGN.test(name))
    .map((name) => join('test', name))
  const imports = new Map<string, readonly string[]>()

  function importsOf(file: string): readonly string[] {
    const cached = imports.get(file)
    if (cached) return cached
    const text = readFileSync(join(root, file), 'utf8')
    const files = [...text.matchAll(/'(\.\.?\/[\w./-]+)'/g)]
      .map(([, path = '']) => normalize(join(dirname(file), path)))
      .map((path) => (path.endsWith('.ts') ? path : `${path}.ts`))
      .filter((path) => existsSync(join(root, path)))
    if (file !== HARNESS && STARTS_DAEMONS.test(text)) files.push(DAEMON)
    imports.set(file, files)
    return files
  }

  function distance(source: string, target: string): number {
    const visited = new Set([source])
    let front = [source]
    for (let steps = 0; front.length > 0; steps++) {
      if (front.includes(target)) return steps
      front = front.flatMap(importsOf).filter((file) => !visited.has(file) && visited.add(file))
    }
    return Number.POSITIVE_INFINITY
  }

  const isInProcess = (test: string): boolean => !Number.isFinite(distance(test, DAEMON))

  /** The tests that reach a file: those in one process, and those that start daemons. */
  return (file: string): { readonly inProcess: string[]; readonly withDaemons: string[] } => {
    const name = basename(file)
    const near = tests
      .map((test) => {
        const words = wordsOf(test)
        const sharedWords = shareOf(words, file) + shareOf(words, name)
        return { test, value: 3 ** sharedWords / (1 + distance(test, file)) }
      })
      .filter(({ value }) => value > 0)
      .sort((a, b) => b.value - a.value)
      .map(({ test }) => test)
    return {
      inProcess: near.filter(isInProcess),
      withDaemons: near.filter((test) => !isInProcess(test)),
    }
  }
}
