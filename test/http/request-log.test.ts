// Who did what, with --log-requests: the client, its token and the id of each request.

import { expect, test } from 'bun:test'
import { refusalOf } from '../harness/commands'
import { type Daemon, runProgram, startDaemon } from '../harness/daemon'
import { ownDaemon } from '../harness/own-daemon'
import { until } from '../harness/until'

const { daemon, folder } = ownDaemon({ args: ['--log-requests'] })

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const requestsOf = (daemon: Daemon) => daemon.events().filter(({ event }) => event === 'request')

/** The request with this id, as soon as it is logged. */
async function logged(daemon: Daemon, id: string) {
  return await until(`request ${id} in the log`, () =>
    requestsOf(daemon).find((line) => line.id === id),
  )
}

/** Whom the log names as the client of a request that came with this `X-Forwarded-For`. */
async function clientOf(daemon: Daemon, forwarded: string | null, init: BunFetchRequestInit = {}) {
  const headers = forwarded === null ? {} : { 'x-forwarded-for': forwarded }
  const response = await daemon.fetch('/plants', { ...init, headers })
  return (await logged(daemon, response.headers.get('x-request-id') ?? ''))?.client
}

test('the daemon logs the client, the name of the token, the id and the time to three digits', async () => {
  const database = folder.file('stopped.db')
  const args = ['--log-requests']
  await using daemon = await startDaemon({ database, args })
  const create = ['token', 'create', 'my laptop', '--scope', 'read', '--database', database]
  const { out } = await runProgram(create)
  const authorization = `Bearer ${/pst_\S+/.exec(out)?.[0]}`

  await daemon.create(1)
  await daemon.fetch('/plants/1', { headers: { authorization } })
  await daemon.fetch('/plants/1', { method: 'DELETE', headers: { authorization } })
  await runProgram(['token', 'revoke', 'my laptop', '--database', database])
  await daemon.fetch('/plants/1', { headers: { authorization } })
  await daemon.fetch('/plants/1', { headers: { authorization: 'Bearer pst_unknown_012345' } })
  await fetch(`${daemon.url}/health`)
  await daemon.stop()

  const lines = requestsOf(daemon)
  const who = lines.map(({ status, client, token }) => [status, client, token])
  expect(who).toEqual([
    [200, '127.0.0.1', 'PLANTSTORE_TOKEN'],
    [200, '127.0.0.1', 'my laptop'],
    [403, '127.0.0.1', 'my laptop'],
    [401, '127.0.0.1', 'my laptop'],
    [401, '127.0.0.1', undefined],
    [200, '127.0.0.1', undefined],
  ])
  for (const { id, ms } of lines) {
    expect(id).toMatch(UUID)
    expect(String(ms)).toMatch(/^\d+(\.\d{1,3})?$/)
  }
  expect(daemon.err()).not.toContain('pst_')
})

test('the daemon sends an id in X-Request-Id with every response, including errors', async () => {
  const sent = [
    ['GET', '/plants', 200],
    ['HEAD', '/plants', 200],
    ['POST', '/plants', 415],
    ['GET', '/nowhere', 404],
    ['PATCH', '/plants', 405],
    ['GET', '/health', 200],
  ] as const
  for (const [index, [method, path, status]] of sent.entries()) {
    const id = `trace_${index}.A-z`
    const headers = { 'x-request-id': id, 'content-type': 'text/plain' }
    // A query is not logged.
    const response = await daemon.fetch(`${path}?tag=a`, { method, headers })

    expect([method, path, response.status]).toEqual([method, path, status])
    expect(response.headers.get('x-request-id')).toBe(id)
    expect(await logged(daemon, id)).toMatchObject({ method, path, status })
  }
})

test.each([
  ['an empty id', ''],
  ['an id with spaces', 'a b'],
  ['an id with quotes', '"a"'],
  ['two ids', 'a, b'],
  ['an id of 129 characters', 'a'.repeat(129)],
  ['an id that is not ASCII', 'é'],
])('the daemon generates an id instead of %s', async (_, id) => {
  const given = (await daemon.fetch('/plants', { headers: { 'x-request-id': id } })).headers
  const longest = 'a'.repeat(128)
  const kept = (await daemon.fetch('/plants', { headers: { 'x-request-id': longest } })).headers

  expect(given.get('x-request-id')).toMatch(UUID)
  expect(kept.get('x-request-id')).toBe(longest)
})

test('the daemon sends no id without --log-requests', async () => {
  await using daemon = await startDaemon({ database: folder.file('silent.db') })
  const response = await daemon.fetch('/plants', { headers: { 'x-request-id': 'mine' } })

  expect(response.headers.has('x-request-id')).toBeFalse()
})

test('the daemon ignores X-Forwarded-For without --trusted-proxies, or from an untrusted peer', async () => {
  const args = ['--log-requests', '--trusted-proxies', '10.0.0.0/8,::1']
  await using other = await startDaemon({ database: folder.file('other.db'), args })

  expect(await clientOf(daemon, '203.0.113.7')).toBe('127.0.0.1')
  expect(await clientOf(other, '203.0.113.7')).toBe('127.0.0.1')
})

const { daemon: proxied } = ownDaemon({
  args: ['--log-requests', '--trusted-proxies', '127.0.0.1, 10.0.0.0/8,fd00::/8'],
})

test.each([
  ['no header', null, '127.0.0.1'],
  ['one client', '203.0.113.7', '203.0.113.7'],
  ['a client that makes one up', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
  ['a chain of proxies', '203.0.113.7, 10.1.2.3,10.0.0.9', '203.0.113.7'],
  ['proxies alone', '10.1.2.3, 10.0.0.9', '10.1.2.3'],
  ['what is no address behind one', '203.0.113.7, unknown, 10.0.0.9', '10.0.0.9'],
  ['what is no address', 'nonsense', '127.0.0.1'],
  ['an empty entry', '203.0.113.7,', '127.0.0.1'],
  ['IPv6', '2001:db8::7, fd00::1', '2001:db8::7'],
  ['IPv6 with a port', '[2001:db8::7]:4711', '2001:db8::7'],
  ['IPv4 with a port', '203.0.113.7:4711', '203.0.113.7'],
  ['a proxy as IPv6', '203.0.113.7, ::ffff:10.0.0.9', '203.0.113.7'],
  ['a line of its own', '203.0.113.7\n"event":"faked"', undefined],
])('the daemon finds the client behind trusted proxies: %s', async (_, forwarded, client) => {
  const found = clientOf(proxied, forwarded)
  if (client === undefined) await expect(found).rejects.toThrow()
  else expect(await found).toBe(client)
})

test('the daemon names an IPv4 client of a daemon that listens on IPv6 too', async () => {
  const args = ['--log-requests', '--host', '::', '--trusted-proxies', '127.0.0.1']
  await using daemon = await startDaemon({ database: folder.file('ipv6.db'), args })
  const ask = (host: string, forwarded: string) =>
    fetch(`http://${host}:${daemon.port}/plants`, {
      headers: { 'x-forwarded-for': forwarded, 'x-request-id': forwarded },
    })
  await ask('127.0.0.1', '192.0.2.1')
  await ask('[::1]', '192.0.2.2')

  expect((await logged(daemon, '192.0.2.1'))?.client).toBe('192.0.2.1')
  expect((await logged(daemon, '192.0.2.2'))?.client).toBe('::1')
})

test('a unix socket is a proxy, trusted where any is', async () => {
  const unix = folder.file('plants.sock')
  for (const [flags, client] of [
    [[], undefined],
    [['--trusted-proxies', '10.0.0.0/8'], '203.0.113.7'],
  ] as const) {
    const args = ['--log-requests', '--unix', unix, ...flags]
    await using daemon = await startDaemon({ database: folder.file('unix.db'), args })

    expect(await clientOf(daemon, '203.0.113.7', { unix })).toBe(client as string)
    expect(await clientOf(daemon, null, { unix })).toBeUndefined()
    await daemon.stop()
  }
})

test.each(['10.0.0.0/33', '::1/129', '10.0.0', 'proxy.local', '10.0.0.1,', 'fe80::1%1'])(
  'the daemon refuses --trusted-proxies %s',
  async (list) => {
    const bad = list.split(',').at(-1)
    expect(
      refusalOf(await runProgram(['serve', '--port', '0', '--trusted-proxies', list]), 2),
    ).toBe(
      `--trusted-proxies takes addresses and CIDRs, such as 127.0.0.1,10.0.0.0/8; not "${bad}"; see "plantstore serve --help"`,
    )
  },
)
