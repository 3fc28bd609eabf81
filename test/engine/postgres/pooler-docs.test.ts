// docs/scaling.md: the settings that a role needs through a pooler are those that plantstore checks.

import { expect, test } from 'bun:test'
import { REQUIRED, ROLE_LIMITS } from '../../../src/engine/postgres/connecting/settings'
import { poolerDocs, roleStatements } from '../../harness/pgbouncer'

const limits = Object.entries(ROLE_LIMITS)

/** The words in backquotes. */
const quoted = (text = ''): string[] =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

test('the limits of a role are in the docs as statements, and no others', () => {
  const expected = limits.filter(([, most]) => most > 0)

  expect(roleStatements().toSorted()).toEqual(
    expected.map(([name, most]) => `ALTER ROLE admin SET ${name} = '${most / 1000}s';`).toSorted(),
  )
})

test('the settings that a role must not change are in the docs, with the values that are accepted', () => {
  const expected = new Map<string, readonly string[]>([
    ...Object.entries(REQUIRED),
    ...limits.filter(([, most]) => most === 0).map(([name]) => [name, ['0']] as const),
  ])
  const found = new Map<string, readonly string[]>()
  for (const line of poolerDocs()
    .split('\n')
    .filter((it) => it.startsWith('| `'))) {
    const [, names, values] = line.split('|')
    for (const name of quoted(names)) found.set(name, quoted(values))
  }

  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
})
