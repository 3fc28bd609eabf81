// docs/failover.md: the settings that a role needs through a pooler are those that plantstore checks.

import { expect, test } from 'bun:test'
import { LIMITS, REQUIRED } from '../../../src/engine/postgres/connection/settings'
import { poolerDocs, roleStatements } from '../../harness/pgbouncer'

/** The words in backquotes. */
const quotedWords = (text = ''): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

test('the docs list each limit of a role as a statement, and no other', () => {
  expect(roleStatements().toSorted()).toEqual(
    Object.entries(LIMITS)
      .map(([name, limit]) => `ALTER ROLE admin SET ${name} = '${limit / 1000}s';`)
      .concat('ALTER ROLE admin SET row_security = off;')
      .toSorted(),
  )
})

test('the docs list the settings that a role must not change, with their accepted values', () => {
  const { row_security, ...expected } = REQUIRED
  const documented = new Map<string, readonly string[]>()
  for (const line of poolerDocs()
    .split('\n')
    .filter((line) => line.startsWith('| `'))) {
    const [, names, values] = line.split('|')
    for (const name of quotedWords(names)) documented.set(name, quotedWords(values))
  }

  expect(Object.fromEntries(documented)).toEqual(expected)
})
