import { expect, setDefaultTimeout, test } from 'bun:test'
import { openStore } from '../../../src/engine/engine'
import { commandUser } from '../../../src/engine/store-user'
import { hashToken, type Token } from '../../../src/token/token'
import { importLines, lines, refusalOf } from '../../harness/commands'
import { PATIENCE_MS, runProgram, temporaryFolder } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const DAY = 86_400_000
const CREATED = Date.UTC(2024, 0, 31, 23, 59, 59, 999)

const tokens: Partial<Token>[] = [
  { name: 'laptop', lastUsedAt: Date.UTC(2024, 10, 22, 12) },
  { name: 'guest', scope: 'read', expiresAt: CREATED + DAY },
  { name: 'until 9999', expiresAt: Date.UTC(9999, 11, 31) },
  { name: 'lost', revokedAt: CREATED + DAY, lastUsedAt: Date.UTC(2024, 1, 1) },
]

/** A database with a token of every state. `token` runs the command on it. */
async function startTokens(more: readonly Partial<Token>[] = tokens) {
  const folder = temporaryFolder()
  const database = folder.file('plants.db')
  await importLines(database, lines(0, 10))
  const store = await openStore(database, commandUser({ makesDatabase: false }))
  for (const [index, token] of more.entries()) {
    await store.createToken({
      name: '',
      hash: hashToken(`secret ${index}`),
      scope: 'write',
      createdAt: CREATED + index,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      ...token,
    })
  }
  await store.close()
  return {
    database,
    folder,
    token: async (...args: string[]) => {
      const { out, err, code } = await runProgram(['token', ...args, '--database', database])
      return { out, err, code }
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}

const printed = (out: string) => ({ out, err: '', code: 0 })

test('token list shows the hour of each last use', async () => {
  using store = await startTokens()

  expect(await store.token('list')).toEqual(
    printed(`\
NAME        SCOPE  CREATED (UTC)     LAST USED       STATE
laptop      write  2024-01-31 23:59  2024-11-22 12h  valid
guest       read   2024-02-01 00:00  never           expired 2024-02-01 23:59
until 9999  write  2024-02-01 00:00  never           valid until 9999-12-31 00:00
lost        write  2024-02-01 00:00  2024-02-01 00h  revoked 2024-02-01 23:59
`),
  )
})

test('token list --json prints an array without hashes', async () => {
  using store = await startTokens()

  const { out, err, code } = await store.token('list', '--json')

  expect({ err, code }).toEqual({ err: '', code: 0 })
  const none = { lastUsedAt: null, expiresAt: null, revokedAt: null }
  expect(JSON.parse(out).slice(2)).toEqual([
    {
      ...none,
      name: 'until 9999',
      scope: 'write',
      state: 'valid',
      createdAt: '2024-02-01T00:00:00.001Z',
      expiresAt: '9999-12-31T00:00:00.000Z',
    },
    {
      ...none,
      name: 'lost',
      scope: 'write',
      state: 'revoked',
      createdAt: '2024-02-01T00:00:00.002Z',
      lastUsedAt: '2024-02-01T00:00:00.000Z',
      revokedAt: '2024-02-01T23:59:59.999Z',
    },
  ])
})

test('the list of no tokens is a heading or an empty array', async () => {
  using store = await startTokens([])

  expect(await store.token('list')).toEqual(
    printed('NAME  SCOPE  CREATED (UTC)  LAST USED  STATE\n'),
  )
  expect(await store.token('list', '--json')).toEqual(printed('[]\n'))
})

test('token prune removes revoked and expired tokens, or only those that ended long ago, and counts them', async () => {
  using store = await startTokens()
  await store.token('revoke', 'laptop')

  expect(await store.token('prune', '--older-than', '1h')).toEqual(printed('removed 2 tokens\n'))
  expect(await store.token('prune')).toEqual(printed('removed 1 token\n'))
  expect((await store.token('list')).out.match(/^\w+/gm)).toEqual(['NAME', 'until'])
  expect(await store.token('prune')).toEqual(printed('removed 0 tokens\n'))
})

test('the name of an expired token can be used again, and that of a valid one cannot', async () => {
  using store = await startTokens()

  expect(await store.token('create', 'guest')).toMatchObject({ code: 0 })
  expect(refusalOf(await store.token('create', 'guest'))).toBe(
    'token guest already exists; choose another name, or revoke it first',
  )

  const { out } = await store.token('list', '--json')
  const guests = JSON.parse(out).filter((token: { name: string }) => token.name === 'guest')
  expect(guests).toMatchObject([
    { state: 'expired', expiresAt: '2024-02-01T23:59:59.999Z', revokedAt: null },
    { state: 'valid', expiresAt: null, revokedAt: null },
  ])
})
