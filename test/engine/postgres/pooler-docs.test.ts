// docs/scaling.md: the settings that a role needs through a pooler are those that plantstore checks.

import { expect, test } from 'bun:test'
import { REQUIRED, ROLE_LIMITS } from '../../../src/engine/postgres/connection/settings'
import { poolerDocs, roleStatements } from '../../harness/pgbouncer'

const LIMITS = Object.entries(ROLE_LIMITS)

/** The words in backquotes. */
const quotedWords = (text = ''): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

test('the docs list each limit of a role as a statement, and no other', () => {
  const expected = LIMITS.filter(([, limit]) => limit > 0)

  expect(roleStatements().toSorted()).toEqual(
    expected
      .map(([name, limit]) => `ALTER ROLE admin SET ${name} = '${limit / 1000}s';`)
      .toSorted(),
  )
})

test('the docs list the settings that a role must not change, with their accepted values', () => {
  const expected = new Map<string, readonly string[]>([
    ...Object.entries(REQUIRED),
    ...LIMITS.filter(([, limit]) => limit === 0).map(([name]) => [name, ['0']] as const),
  ])
  const documented = new Map<string, readonly string[]>()
  for (const line of poolerDocs()
    .split('\n')
    .filter((line) => line.startsWith('| `'))) {
    const [, names, values] = line.split('|')
    for (const name of quotedWords(names)) documented.set(name, quotedWords(values))
  }

  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(expected))
})
