import { expect, test } from 'bun:test'
import { createSendRequest, isLoopback } from '../../src/outbound/request'
import { makeCa } from '../harness/certificates'
import { runProgram, TOKEN } from '../harness/daemon'
import { own } from '../harness/own'
import { ownFolder } from '../harness/own-folder'
import { startProxy } from '../harness/proxy'
import { behave } from '../harness/tcp-server'

const folder = ownFolder()
const ca = own(() => makeCa(folder, 'ca'))
// A name that is not this machine's, so that a proxy is asked; no server has it.
const FAR = 'plants.invalid'

const serve = (tls?: { cert: string; key: string }) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    ...(tls ? { tls } : {}),
    fetch: () => Response.json({ changes: [], next: 'x' }),
  })

/** The explanation of a missing answer. It shows only the origin of the URL. */
async function reason(origin: string, seconds = 30): Promise<string> {
  const url = `${origin.replace('//', '//UserSecret:PassSecret@')}/hook/PathSecret?s=QuerySecret`
  const { message } = await createSendRequest(false)(url, { target: 'daemon', seconds }).then(
    ({ status }) => ({ message: `answered ${status}` }),
    (error: Error) => error,
  )
  expect(message).not.toContain('Secret')
  return message
}

/** What `changes` says of a daemon, with these variables. */
const changesWith = async (env: Record<string, string>, url = `http://${FAR}/`) =>
  (await runProgram(['changes', '--url', url], { env: { ...env, PLANTSTORE_TOKEN: TOKEN } })).err

test('the message asks to check the scheme if it does not match the port', async () => {
  await using secure = serve(ca.sign('DNS:localhost,IP:127.0.0.1'))
  await using plain = serve()
  const [one, other] = [`127.0.0.1:${secure.port}`, `127.0.0.1:${plain.port}`]

  expect(await reason(`http://${one}`)).toBe(
    `no answer from http://${one}: ECONNRESET; check http:// or https://`,
  )
  expect(await reason(`https://${other}`)).toBe(
    `no answer from https://${other}: EPROTO; check http:// or https://`,
  )
})

test('the message says how to trust a certificate, and what else may be wrong with one', async () => {
  await using unknown = serve(ca.sign('IP:127.0.0.1'))
  await using expired = serve(ca.sign('IP:127.0.0.1', -1))
  const at = (port: number | undefined) => `https://127.0.0.1:${port}`

  expect(await reason(at(unknown.port))).toBe(
    `the certificate of ${at(unknown.port)} is refused (UNABLE_TO_VERIFY_LEAF_SIGNATURE); to trust a CA, set NODE_EXTRA_CA_CERTS to the file of its certificate (PEM)`,
  )
  expect(await reason(at(expired.port))).toContain('is refused (CERT_HAS_EXPIRED)')
})

test('the message distinguishes a closed port, an unknown host and silence', async () => {
  using silent = await behave(() => {})
  using half = await behave((socket) => void socket.write('HTTP/1.1 '))

  expect(await reason('http://127.0.0.1:1')).toBe(
    'nothing is listening at http://127.0.0.1:1; is the daemon running?',
  )
  expect(await reason('http://nope.invalid')).toBe('cannot resolve host nope.invalid')
  for (const { host } of [silent, half]) {
    expect(await reason(`http://${host}`, 0.2)).toBe(`no answer from http://${host} within 0.2 s`)
  }
})

const ok = 'HTTP/1.1 200 OK\r\n'

test.each([
  ['', 'ECONNRESET'],
  ['SSH-2.0-OpenSSH_9.2\r\n', ''],
  [`${ok}PathSecret\r\n\r\n`, ''],
  [`${ok}Content-Length: x\r\n\r\nabc`, ''],
  [`${ok}Transfer-Encoding: chunked\r\n\r\nZZ\r\nabc`, ''],
  [`${ok}Content-Length: 100\r\n\r\nabc`, ''],
  [`${ok}Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nxxx`, ''],
  ['HTTP/1.1 302 Found\r\nLocation: /hook/PathSecret\r\nContent-Length: 0\r\n\r\n', ''],
  ['HTTP/1.1 302 Found\r\nLocation: ftp://x/OtherSecret\r\nContent-Length: 0\r\n\r\n', ''],
])('the message names the code of the failure after the response %j', async (bytes, code) => {
  using server = await behave(bytes)
  const said = await reason(`http://${server.host}`)

  expect(said).toStartWith(`no answer from http://${server.host}: ${code}`)
  expect(said).not.toContain('unknown error')
})

test('a malformed response to TLS suggests another scheme', async () => {
  // Also a fatal alert: protocol_version.
  for (const bytes of ['garbage garbage', '\x15\x03\x03\0\x02\x02\x46']) {
    using server = await behave(bytes)
    expect(await reason(`https://${server.host}`)).toEndWith('; check http:// or https://')
  }
})

test('the time limit covers the body, unless it is a stream', async () => {
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            controller.enqueue('x')
            await Bun.sleep(1000)
            controller.close()
          },
        }),
      ),
  })
  const url = server.url.href
  expect(await reason(server.url.origin, 0.3)).toContain('within 0.3 s')

  const ask = createSendRequest(false)
  const response = await ask(url, { target: 'daemon', seconds: 0.3, isStream: true })
  expect(await response.text()).toBe('x')
})

test('a signal ends a request with its own reason', async () => {
  using silent = Bun.listen({ port: 0, hostname: '127.0.0.1', socket: { data() {} } })
  const controller = new AbortController()
  const asked = createSendRequest(false)(`http://127.0.0.1:${silent.port}`, {
    target: 'daemon',
    seconds: 30,
    signal: controller.signal,
  })
  controller.abort('enough')

  expect(await asked.catch((error) => error)).toBe('enough')
})

test.each([
  'http://127.0.0.1:3000',
  'http://127.1:3000',
  'http://0x7f.1',
  'http://2130706433',
  'http://127.255.255.254',
  'http://localhost',
  'http://LOCALHOST.:3000',
  'http://plants.localhost',
  'http://[::1]:3000',
  'http://[0:0:0:0:0:0:0:1]',
  'http://[::ffff:127.0.0.1]',
  'http://0.0.0.0:3000',
  'http://[::]:3000',
])('%s is this machine', (url) => {
  expect(isLoopback(new URL(url))).toBe(true)
})

test.each([
  '127.0.0.1.example.org',
  '127.example',
  'localhost.example',
  '128.0.0.1',
  '[::127.0.0.1]',
])('%s is another machine', (host) => {
  expect(isLoopback(new URL(`http://${host}`))).toBe(false)
})

test('a request to another machine uses the proxy of the environment, unless NO_PROXY has its name', async () => {
  using proxy = await startProxy('200 OK')
  await changesWith(proxy.env)
  expect(proxy.seen()).toStartWith(`GET http://${FAR}/plants/changes`)
  expect(proxy.seen()).toContain(TOKEN)

  using unused = await startProxy()
  expect(await changesWith({ ...unused.env, NO_PROXY: '.invalid,10.0.0.0/8' })).toContain(
    `cannot resolve host ${FAR}`,
  )
  expect(unused.seen()).toBe('')
})

test.each(['http', 'https'])(
  'the message names the variables of a proxy that refuses %s',
  async (scheme) => {
    using proxy = await startProxy('407 Proxy Authentication Required')
    const said = await changesWith(proxy.env, `${scheme}://${FAR}/`)

    expect(said).toContain(scheme === 'http' ? 'with status 407' : 'a proxy is set')
  },
)

test('the message names the variables of a proxy that does not respond', async () => {
  const hint = `; a proxy is set: check HTTP_PROXY and HTTPS_PROXY, or add ${FAR} to NO_PROXY\n`

  for (const proxy of ['http://127.0.0.1:1', 'http://nope.invalid:1']) {
    expect(await changesWith({ HTTP_PROXY: proxy })).toEndWith(hint)
  }
})
