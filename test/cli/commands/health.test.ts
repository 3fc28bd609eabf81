import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasIpv6, refusalOf, storeFolder } from '../../harness/commands'
import { PATIENCE_MS, root, runProgram, TOKEN } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

test('health exits with 0 if the daemon is well', async () => {
  using folder = storeFolder()
  await using daemon = await folder.serve()
  const { port } = new URL(daemon.url)

  expect(await runProgram(['health', '--port', port])).toEqual({
    out: `ok ${daemon.url}/health\n`,
    err: '',
    code: 0,
  })
  const byEnvironment = await runProgram(['health'], { env: { PLANTSTORE_PORT: port } })
  expect(byEnvironment.code).toBe(0)
})

test('health --quiet prints nothing while the daemon is well', async () => {
  using folder = storeFolder()
  await using daemon = await folder.serve()
  const env = { PLANTSTORE_PORT: String(daemon.port) }
  const page = readFileSync(join(root, 'docs/operating.md'), 'utf8')
  const [, line = ''] = /^\*\/5 .* \/usr\/bin\/plantstore (.*)$/m.exec(page) ?? []

  expect(await runProgram(line.split(' '), { env })).toEqual({ out: '', err: '', code: 0 })
  await daemon.stop()
  expect(refusalOf(await runProgram(line.split(' '), { env }))).toBe(
    `nothing is listening at ${daemon.url}; is the daemon running?`,
  )
})

test('health --json prints the state of the service', async () => {
  using folder = storeFolder()
  await using daemon = await folder.serve()
  await daemon.create(1)
  const env = { PLANTSTORE_PORT: String(daemon.port), PLANTSTORE_TOKEN: TOKEN }

  const { out, err, code } = await runProgram(['health', '--json'], { env })
  expect({ err, code }).toEqual({ err: '', code: 0 })
  expect(JSON.parse(out)).toMatchObject({ writable: true, plants: 1 })

  const { PLANTSTORE_TOKEN: _, ...none } = env
  expect(refusalOf(await runProgram(['health', '--json'], { env: none }), 2)).toBe(
    '--json needs PLANTSTORE_TOKEN or PLANTSTORE_TOKEN_FILE; see "plantstore health --help"',
  )
})

test('health ignores the proxy of the environment', async () => {
  using folder = storeFolder()
  await using daemon = await folder.serve()
  await using proxy = Bun.serve({ port: 0, fetch: () => new Response('no', { status: 502 }) })
  const { port } = new URL(daemon.url)

  const env = { HTTP_PROXY: String(proxy.url), http_proxy: String(proxy.url) }
  expect(await runProgram(['health', '--port', port], { env })).toMatchObject({ code: 0, err: '' })
})

test.skipIf(!hasIpv6)('an IPv6 address is accepted with or without brackets', async () => {
  using folder = storeFolder()
  for (const host of ['[::1]', '::1']) {
    await using daemon = await folder.serve({ args: ['--host', host] })
    const { port } = new URL(daemon.url)

    expect(daemon.url).toBe(`http://[::1]:${port}`)
    expect((await runProgram(['health', '--host', host, '--port', port])).code).toBe(0)
    expect(await daemon.stop()).toBe(0)
  }
  // The zone of a link-local address (RFC 4007, section 11) may have a dash.
  expect((await runProgram(['health', '--host', 'fe80::1%br-lan'])).code).toBe(1)
})

test('health exits with 1 and one line if the server is not plantstore', async () => {
  await using server = Bun.serve({ port: 0, fetch: () => new Response('no', { status: 404 }) })

  expect(refusalOf(await runProgram(['health', '--port', String(server.port)]))).toMatch(
    /^.+ answered 404: no$/,
  )
})
