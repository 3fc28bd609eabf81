import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { hashToken } from '../../../src/token/token'
import { refusalOf } from '../../harness/commands'
import { runProgram, temporaryFolder } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { expectError, storedPlants } from '../../harness/plants'

const { daemon, folder, database } = ownDaemon()

const token = (...args: string[]) => runProgram(['token', ...args, '--database', database])
const mint = async (...args: string[]) => (await token('create', ...args)).out.trim()
const withToken = (text: string) => ({ headers: { authorization: `Bearer ${text}` } })
const list = (text: string) => daemon.fetch('/plants', withToken(text))
const create = (id: number, text: string) =>
  daemon.fetch('/plants', { json: { id, name: 'Lily' }, ...withToken(text) })

test("a new token is printed once, and accepted on the daemon's next request", async () => {
  const { out, err, code } = await token('create', 'laptop')

  expect(code).toBe(0)
  expect(out).toMatch(/^pst_[A-Za-z0-9_-]{43}\n$/)
  expect(err).toContain('laptop')
  expect(err).not.toContain(out.trim())
  expect((await create(1, out.trim())).status).toBe(200)
  expect((await token('list')).out).not.toContain(out.trim())
})

test("a revoked token is refused on the daemon's next request", async () => {
  const text = await mint('phone')
  expect((await list(text)).status).toBe(200)

  const { out, code } = await token('revoke', 'phone')

  expect({ out, code }).toEqual({ out: 'revoked phone\n', code: 0 })
  await expectError(await list(text), 40102)
  await expectError(await create(2, text), 40102)
  expect(storedPlants(database).map(({ id }) => id)).not.toContain(2n)
})

test('token revoke refuses an unknown or revoked token', async () => {
  await mint('once')
  await token('revoke', 'once')

  for (const name of ['once', 'never']) {
    expect(refusalOf(await token('revoke', name))).toBe(
      `no valid token ${name}; see "plantstore token list"`,
    )
  }
})

test('the database has only the hash of a token', async () => {
  const text = await mint('kept secret')
  await create(14, text)

  const files = readdirSync(folder.path).map((name) => readFileSync(folder.file(name), 'latin1'))
  const content = files.join()

  expect(content).toContain(hashToken(text))
  expect(content).not.toContain(text)
  expect(content).not.toContain(text.slice('pst_'.length))
})

test.each([
  ['> /dev/full', 74],
  ['| true', 1],
  ['>&-', 1],
  ['> /dev/null', 1],
])('a token that could not be printed is revoked: %s', async (where, expected) => {
  const name = `unseen ${where.replace(/\W/g, '')}.`

  // The reader has gone before the program starts.
  const under = ['bash', '-c', `set -o pipefail; { sleep 0.2; "$0" "$@"; } ${where}`]
  const { code, err } = await runProgram(['token', 'create', name, '--database', database], {
    under,
  })

  expect(code).toBe(expected)
  if (code === 1)
    expect(err).toEndWith('plantstore: could not print the token, so it was revoked\n')
  expect((await token('list')).out).toMatch(new RegExp(`^${name} .* revoked `, 'm'))
})

test('token create --output writes only to a new file of mode 0600, and says where', async () => {
  using own = temporaryFolder()
  const path = own.file('reader.token')
  const args = ['token', 'create', 'saved', '--scope', 'read', '--output', 'reader.token']

  const { out, err, code } = await runProgram([...args, '--database', database], {
    cwd: own.path,
    under: ['sh', '-c', 'umask 0; exec "$0" "$@"'],
  })

  expect({ out, err, code }).toEqual({
    out: `saved token saved to ${realpathSync(path)}\n`,
    err: '',
    code: 0,
  })
  const text = readFileSync(path, 'utf8')
  expect(text).toMatch(/^pst_[A-Za-z0-9_-]{43}\n$/)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect((await list(text.trim())).status).toBe(200)
  expect(readdirSync(own.path)).toEqual(['reader.token'])
})

test('a failed `token create --output` leaves neither a file nor a token', async () => {
  using own = temporaryFolder()
  await mint('twice')
  const path = own.file('token')
  await Bun.write(own.file('old'), 'old')

  const taken = await token('create', 'twice', '--output', path)
  const existing = await token('create', 'fileless', '--output', own.file('old'))
  const missing = await token('create', 'fileless', '--output', own.file('missing/token'))
  const none = await runProgram(['token', 'create', 'a', '--output', path], { cwd: own.path })

  expect([taken, existing, missing, none].map(({ out, code }) => [out, code])).toEqual(
    Array(4).fill(['', 1]),
  )
  expect(taken.err).toStartWith('plantstore: token twice already exists; ')
  expect(existing.err).toBe(`plantstore: ${own.file('old')} already exists; give a new FILE\n`)
  expect(missing.err).toBe(
    `plantstore: cannot write ${own.file('missing/token')}: no such file or folder\n`,
  )
  expect(none.err).toStartWith('plantstore: no database at ')
  expect((await token('list')).out).not.toContain('fileless')
  expect(readdirSync(own.path)).toEqual(['old'])
  expect(readFileSync(own.file('old'), 'utf8')).toBe('old')
  expect(existsSync(path)).toBeFalse()
})
