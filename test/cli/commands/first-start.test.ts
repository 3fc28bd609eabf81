import { expect, setDefaultTimeout, test } from 'bun:test'
import { realpathSync, writeFileSync } from 'node:fs'
import { hasIpv6, hasScript, refusalOf, storeFolder } from '../../harness/commands'
import {
  type Daemon,
  PATIENCE_MS,
  runProgram,
  startDaemon,
  startProgram,
} from '../../harness/daemon'
import { ownPages } from '../../harness/own-pages'
import { expectError, storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'

setDefaultTimeout(PATIENCE_MS)
ownPages()

// An empty variable is none.
const env = { PLANTSTORE_TOKEN: '' }

/** The output of a daemon, once it matches; it listens before it prints its token. */
async function printed(daemon: Daemon, pattern: RegExp): Promise<string> {
  const match = await until(`output that matches ${pattern}`, () => pattern.exec(daemon.out()))
  return match[1] ?? ''
}
const TOKEN_LINE = /^ *(pst_[A-Za-z0-9_-]{43})$/m
const CURL_LINE = /^ *(curl .*)\n/m

const HINT_LINE = /^(to make another token: .*)\n/m

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

test('serve prints the first token of a new store, with a curl line that works as pasted', async () => {
  using folder = storeFolder()
  const { database } = folder
  await using daemon = await folder.serve({ env })
  const line = await printed(daemon, CURL_LINE)
  const token = await printed(daemon, TOKEN_LINE)

  const curl = Bun.spawnSync(['sh', '-c', line], { env: { PATH: Bun.env.PATH ?? '' } })

  expect(curl.stdout.toString()).toBe('{"name":"Monstera deliciosa","tag":"aroid"}')
  expect(curl.exitCode).toBe(0)
  expect(storedPlants(database)).toEqual([{ id: 1n, name: 'Monstera deliciosa', tag: 'aroid' }])
  expect(daemon.err()).not.toContain(token)
  // A link with the token is for a terminal alone.
  expect(daemon.out()).not.toContain('#token=')
})

test.skipIf(!hasIpv6)('the curl line quotes the brackets of an IPv6 address', async () => {
  using folder = storeFolder()
  const args = ['--host', '::1']
  await using daemon = await folder.serve({ env, args })

  expect(await printed(daemon, CURL_LINE)).toEndWith(` '${daemon.url}/plants'`)
})

test('serve continues if standard output cannot be written, and revokes the token', async () => {
  using folder = storeFolder()
  const args = ['--database', folder.database]
  const under = ['bash', '-c', 'exec "$0" "$@" > /dev/full']
  await using child = startProgram(['serve', '--port', '0', ...args], { under })
  expect(await child.prints(() => child.err().includes('"event":"token-not-shown"'))).toBeTrue()
  expect(await child.stop()).toBe(0)

  expect(child.err()).toContain('"event":"listening"')
  expect((await folder.run(['token', 'list'])).out).toMatch(/^first .* revoked /m)
})

test('serve creates no first token if standard output is closed', async () => {
  using folder = storeFolder()
  const args = ['--database', folder.database]
  const under = ['bash', '-c', 'exec "$0" "$@" >&-']
  await using child = startProgram(['serve', '--port', '0', ...args], { under })

  expect(await child.prints(() => child.err().includes('"event":"token-not-shown"'))).toBeTrue()
  expect(await child.stop()).toBe(0)
  expect((await folder.run(['token', 'list', '--json'])).out).toBe('[]\n')
})

test('the second start prints no token, and the first token is still valid', async () => {
  using folder = storeFolder()
  const first = await folder.serve({ env })
  const token = await printed(first, TOKEN_LINE)
  expect(await first.stop()).toBe(0)

  await using second = await folder.serve({ env })

  const hint = await printed(second, HINT_LINE)
  expect(second.out()).toBe(`console: ${second.url}/\n${hint}\n`)
  expect((await second.fetch('/plants', as(token))).status).toBe(200)
})

test('every start prints a command for another token that works as pasted', async () => {
  using folder = storeFolder()
  const database = folder.file("a gardener's plants.db")
  const first = await startDaemon({ database, env })
  const hint = await printed(first, HINT_LINE)
  // As if it had been killed before anybody saw the token.
  await first[Symbol.asyncDispose]()
  await using second = await startDaemon({ database, env })
  expect(await printed(second, HINT_LINE)).toBe(hint)

  const shell = ['sh', '-c', hint.replace('to make another token: ', '')]
  const { PATH = '', HOME = '' } = Bun.env
  const made = Bun.spawnSync(shell, { env: { PATH, HOME }, cwd: '/' })

  expect(made.exitCode).toBe(0)
  const token = made.stdout.toString().trim()
  expect((await second.fetch('/plants', as(token))).status).toBe(200)
})

const LINK = /^ *(http:\S+\/)#token=(pst_[A-Za-z0-9_-]{43})\r?$/m

test.skipIf(!hasScript)(
  'only the first start on a terminal prints a link to the console with the first token',
  async () => {
    using folder = storeFolder()

    const first = await folder.serveOnTerminal()

    const [, page, token] = LINK.exec(first) ?? []
    expect(first).toContain(`console: ${page}\r\n`)
    expect(first).toContain(`  ${token}\r\n`)
    expect(await folder.serveOnTerminal()).not.toContain('#token=')
  },
)

test('serve --no-console prints no link to the console', async () => {
  using folder = storeFolder()
  const args = ['--no-console']
  await using daemon = await folder.serve({ env, args })
  await printed(daemon, HINT_LINE)

  expect(daemon.out()).not.toContain('console: ')
})

test('serve prints the absolute path of a database that it creates', async () => {
  using folder = storeFolder()
  const path = `${realpathSync(folder.path)}/plants.db`
  const first = await startDaemon({ cwd: folder.path, env })
  await printed(first, HINT_LINE)
  await first.stop()
  await using second = await startDaemon({ cwd: folder.path, env })
  await printed(second, HINT_LINE)

  expect(first.out()).toContain(`\ncreated the database ${path}\n`)
  expect(second.out()).not.toContain('created')
  for (const daemon of [first, second]) {
    expect(daemon.events()[0]).toMatchObject({ event: 'listening', database: path })
  }
})

test('serve prints no token for a store whose only token was revoked', async () => {
  using folder = storeFolder()
  const first = await folder.serve({ env })
  const token = await printed(first, TOKEN_LINE)
  await first.stop()
  await folder.run(['token', 'revoke', 'first'])

  await using second = await folder.serve({ env })

  expect(second.out()).not.toContain('pst_')
  await expectError(await second.fetch('/plants', as(token)), 40102)
})

test.each(['PLANTSTORE_TOKEN', 'PLANTSTORE_TOKEN_FILE'])(
  'the token of %s is the only one, and is shown nowhere',
  async (variable) => {
    using folder = storeFolder()
    const file = folder.file('token')
    writeFileSync(file, 'of-the-environment\n')
    const value = variable.endsWith('FILE') ? file : 'of-the-environment'
    await using daemon = await folder.serve({ env: { ...env, [variable]: value } })

    expect((await daemon.fetch('/plants', as('of-the-environment'))).status).toBe(200)
    expect(daemon.out() + daemon.err()).not.toMatch(/pst_|of-the-environment/)
    const { out } = await folder.run(['token', 'list'])
    expect(out.trim().split('\n')).toHaveLength(1)
  },
)

test.each([
  ['a short token', { PLANTSTORE_TOKEN: 'short-secret' }, 'PLANTSTORE_TOKEN must be'],
  ['a token with a space', { PLANTSTORE_TOKEN: 'short-secret with space' }, 'PLANTSTORE_TOKEN '],
  [
    'a token that no request can hold',
    { PLANTSTORE_TOKEN: 'x'.repeat(5000) },
    'PLANTSTORE_TOKEN must be',
  ],
  [
    'a missing file',
    { PLANTSTORE_TOKEN_FILE: '/missing/short-secret' },
    'cannot read PLANTSTORE_TOKEN_FILE /missing/short-secret: no such file or folder;',
  ],
  [
    'a file without an end',
    { PLANTSTORE_TOKEN_FILE: '/dev/zero' },
    'cannot read PLANTSTORE_TOKEN_FILE /dev/zero: it is larger than 1 MiB;',
  ],
  [
    'both',
    { PLANTSTORE_TOKEN: 'short-secret-of-16', PLANTSTORE_TOKEN_FILE: '/dev/null' },
    'PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE',
  ],
])('serve does not start with %s', async (_, given, message) => {
  using folder = storeFolder()

  const refusal = refusalOf(
    await runProgram(['serve', '--port', '0'], {
      cwd: folder.path,
      env: given,
    }),
    2,
  )

  expect(refusal).toContain(message)
  if ('PLANTSTORE_TOKEN' in given) expect(refusal).not.toContain('short-secret')
})

test('serve warns if PLANTSTORE_TOKEN is also a token of the store', async () => {
  using folder = storeFolder()
  await folder.fill(1)
  const made = await folder.run(['token', 'create', 'reader', '--scope', 'read'])
  const line = (daemon: Daemon) =>
    daemon.events().find(({ event }) => event === 'token-also-stored')

  await using daemon = await folder.serve({ env: { PLANTSTORE_TOKEN: made.out.trim() } })
  expect(line(daemon)).toMatchObject({ level: 'warn', token: 'reader', source: 'PLANTSTORE_TOKEN' })
  await daemon.stop()

  await using another = await folder.serve()
  expect(line(another)).toBeUndefined()
})
