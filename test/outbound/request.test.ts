import { expect, test } from 'bun:test'
import { createSendRequest, isLoopback } from '../../src/outbound/request'
import { makeCa } from '../harness/certificates'
import { runProgram, TOKEN } from '../harness/daemon'
import { own } from '../harness/own'
import { ownFolder } from '../harness/own-folder'
import { startProxy } from '../harness/proxy'

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

/** The explanation of a missing answer. */
const reason = (url: string, seconds = 30): Promise<string> =>
  createSendRequest(false)(url, { target: 'daemon', seconds }).then(
    ({ status }) => `answered ${status}`,
    (error: Error) => error.message,
  )

/** What `changes` says of a daemon, with these variables. */
const changesWith = async (env: Record<string, string>, url = `http://${FAR}/`) =>
  (await runProgram(['changes', '--url', url], { env: { ...env, PLANTSTORE_TOKEN: TOKEN } })).err

test('asks for the right scheme if a port speaks HTTPS, or plain HTTP', async () => {
  await using secure = serve(ca.sign('DNS:localhost,IP:127.0.0.1'))
  await using plain = serve()
  const [one, other] = [`127.0.0.1:${secure.port}`, `127.0.0.1:${plain.port}`]

  expect(await reason(`http://${one}/x`)).toBe(
    `no answer from http://${one}: ECONNRESET; check http:// or https://`,
  )
  expect(await reason(`https://${other}/x`)).toBe(
    `no answer from https://${other}: EPROTO; check http:// or https://`,
  )
})

test('says how to trust a certificate, and what else may be wrong with one', async () => {
  await using unknown = serve(ca.sign('IP:127.0.0.1'))
  await using expired = serve(ca.sign('IP:127.0.0.1', -1))
  const at = (port: number | undefined) => `https://127.0.0.1:${port}`

  expect(await reason(at(unknown.port))).toBe(
    `the certificate of ${at(unknown.port)} is refused (UNABLE_TO_VERIFY_LEAF_SIGNATURE); to trust a CA, set NODE_EXTRA_CA_CERTS to the file of its certificate (PEM)`,
  )
  expect(await reason(at(expired.port))).toContain('is refused (CERT_HAS_EXPIRED)')
})

test('says that nothing listens, that nothing answers, and that a server closes the connection', async () => {
  using silent = Bun.listen({ port: 0, hostname: '127.0.0.1', socket: { data() {} } })
  using rude = Bun.listen({
    port: 0,
    hostname: '127.0.0.1',
    socket: { data() {}, open: (socket) => void socket.end() },
  })

  expect(await reason('http://127.0.0.1:1/secret')).toBe(
    'nothing is listening at http://127.0.0.1:1; is the daemon running?',
  )
  expect(await reason('http://nope.invalid/secret')).toBe('cannot resolve host nope.invalid')
  expect(await reason(`http://127.0.0.1:${silent.port}/secret`, 0.2)).toBe(
    `no answer from http://127.0.0.1:${silent.port} within 0.2 s`,
  )
  const closed = await reason(`http://127.0.0.1:${rude.port}/secret`)
  expect(closed).toStartWith(`no answer from http://127.0.0.1:${rude.port}: `)
  expect(closed).not.toContain('verbose')
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
  expect(await reason(url, 0.3)).toContain('within 0.3 s')

  const ask = createSendRequest(false)
  const answer = await ask(url, { target: 'daemon', seconds: 0.3, isStream: true })
  expect(await answer.text()).toBe('x')
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

test('asks other machines through the proxy of the environment, but for those in NO_PROXY', async () => {
  using proxy = await startProxy('200 OK')
  await changesWith(proxy.env)
  expect(proxy.seen()).toStartWith(`GET http://${FAR}/plants/changes`)

  using unused = await startProxy()
  expect(await changesWith({ ...unused.env, NO_PROXY: '.invalid,10.0.0.0/8' })).toContain(
    `cannot resolve host ${FAR}`,
  )
  expect(unused.seen()).toBe('')
})

test.each(['http', 'https'])('names the variables of a proxy that refuses %s', async (scheme) => {
  using proxy = await startProxy('407 Proxy Authentication Required')
  const said = await changesWith(proxy.env, `${scheme}://${FAR}/`)

  expect(said).toContain(scheme === 'http' ? 'with status 407' : 'a proxy is set')
})

test('names the variables of a proxy that does not answer, and none of its secrets', async () => {
  const hint = `; a proxy is set: check HTTP_PROXY and HTTPS_PROXY, or add ${FAR} to NO_PROXY\n`

  for (const proxy of ['http://me:secret@127.0.0.1:1', 'http://me:secret@nope.invalid:1']) {
    const said = await changesWith({ HTTP_PROXY: proxy })
    expect(said).toEndWith(hint)
    expect(said).not.toContain('secret')
  }
})
