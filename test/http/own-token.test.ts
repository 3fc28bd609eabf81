// GET /token: what a client may do.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { runProgram, startDaemon, TOKEN } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'
import { until } from '../harness/until'

const { daemon, database, folder, createToken } = ownDaemon({
  args: ['--rate-limit', '100', '--log-requests'],
})
const read = (token: string, url = daemon.url) =>
  fetch(`${url}/token`, { headers: { authorization: `Bearer ${token}` } })

test('GET /token has the name, the scope and the expiry, and that no change log is kept', async () => {
  const before = Date.now()
  const laptop = await createToken('laptop')
  const phone = await createToken('phone', '--scope', 'read', '--expires', '90d')

  const response = await read(laptop)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await response.text()).toBe('{"name":"laptop","scope":"write","changeLog":false}')

  const { expires, ...rest } = (await (await read(phone)).json()) as { expires: string }
  expect(rest).toEqual({ name: 'phone', scope: 'read', changeLog: false } as never)
  expect(expires).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const days = (Date.parse(expires) - before) / 86_400_000
  expect(days).toBeGreaterThanOrEqual(90)
  expect(days).toBeLessThan(90.1)
})

test('the daemon says that a change log is kept', async () => {
  const args = ['--keep-changes', '1d']
  await using daemon = await startDaemon({ database: folder.file('logged.db'), args })
  expect(await (await daemon.fetch('/token')).json()).toMatchObject({ changeLog: true })
})

test('the daemon names a token of the configuration as the log does', async () => {
  const name = async (response: Response) => ((await response.json()) as { name: string }).name
  expect(await name(await read(TOKEN))).toBe('PLANTSTORE_TOKEN')
  const isLogged = () => daemon.events().some((line) => line.token === 'PLANTSTORE_TOKEN')
  expect(await daemon.prints(isLogged)).toBe(true)

  writeFileSync(folder.file('token'), `${TOKEN}\n`)
  const env = { PLANTSTORE_TOKEN: '', PLANTSTORE_TOKEN_FILE: folder.file('token') }
  await using other = await startDaemon({ database: folder.file('other.db'), env })
  expect(await name(await read(TOKEN, other.url))).toBe('PLANTSTORE_TOKEN_FILE')
})

test('GET /token counts as a request of the token, and as a use of it', async () => {
  const used = await createToken('used')
  const responses = await Promise.all(Array.from({ length: 300 }, () => read(used)))
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 429]))

  const lastUse = async () => {
    const { out } = await runProgram(['token', 'list', '--json', '--database', database])
    const tokens = JSON.parse(out) as { name: string; lastUsedAt: string | null }[]
    return tokens.find(({ name }) => name === 'used')?.lastUsedAt
  }
  expect(await until('the last use of the token', lastUse)).toMatch(/:00:00\.000Z$/)
})
